package datasets

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// A server serves one file, and counts how often it was asked.
type server struct {
	data     []byte
	status   int           // the answer instead of the file; 0 means the file
	slow     time.Duration // before each answer
	requests atomic.Int64
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	time.Sleep(s.slow)
	if s.status != 0 {
		w.WriteHeader(s.status)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.data))
}

// toyFormat finds every file well-formed.
type toyFormat struct{ format }

func (toyFormat) list(string, File) (content, error) {
	return content{check: func(context.Context) error { return nil }}, nil
}

// toyEntry is a set of one file, toy/data.bin, in the given archive, and its data folder.
func toyEntry(t *testing.T, s *server, archive string, content []byte) (e *entry, dir string) {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	sum := func(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
	src := Source{URL: h.URL + "/" + archive, Bytes: int64(len(s.data)), SHA256: sum(s.data), folder: "toy"}
	if archive != "data.bin" {
		src.keep = func(member string) (string, bool) { return strings.CutPrefix(member, "toy/") }
	}
	file := File{Path: "toy/data.bin", Bytes: int64(len(content)), SHA256: sum(content)}
	return &entry{format: toyFormat{}, Info: Info{Name: "toy", Files: []File{file}, Downloads: []Source{src}}}, t.TempDir()
}

func fetchToy(t *testing.T, e *entry, dir string) (said string, err error) {
	var out bytes.Buffer
	g := getter{&download.Client{Progress: &out, Pause: time.Millisecond}}
	err = fetch(t.Context(), official{e, dir}, g)
	return out.String(), err
}

func someBytes(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// toyMembers are what toy archives hold.
func toyMembers(content []byte) map[string][]byte {
	return map[string][]byte{"toy/data.bin": content, "toy/deep/er/more.txt": []byte("more"), "other/skipped.txt": nil}
}

func tarOf(t *testing.T, members map[string][]byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for name, data := range members {
		must.Do(t, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o644}))
		w.Write(data)
	}
	must.Do(t, errors.Join(w.Close(), z.Close()))
	return buf.Bytes()
}

func zipOf(t *testing.T, members map[string][]byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for name, data := range members {
		f := must.Get(w.Create(name))(t)
		f.Write(data)
	}
	must.Do(t, w.Close())
	return buf.Bytes()
}

// holds checks that the set holds the content, and that nothing is left of the download.
func holds(t *testing.T, dir string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(dir, "toy/data.bin")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("toy/data.bin has %d bytes (%v), or others than the %d that were served", len(got), expect.Text(err),
			len(want))
	}
	for _, pattern := range []string{"downloads/*.part*", "toy/.unpack*", "toy/old.bin"} {
		if left, _ := filepath.Glob(filepath.Join(dir, pattern)); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// TestFetch: a download is unpacked into the folder of the set, as is a copy that the user has put
// beside it, which stays. Files that a killed process had unpacked are removed; files of others
// stay.
func TestFetch(t *testing.T) {
	content := someBytes(100_000)
	for name, data := range map[string][]byte{"toy.tar.gz": tarOf(t, toyMembers(content)),
		"toy.zip": zipOf(t, toyMembers(content)), "data.bin": content} {
		t.Run(name, func(t *testing.T) {
			for _, before := range []string{"", "damaged", "half a download", "a copy", "left by a kill"} {
				s := &server{data: data}
				e, dir := toyEntry(t, s, name, content)
				mine, requests := "toy/mine.txt", int64(1)
				switch before {
				case "damaged":
					write(t, filepath.Join(dir, "toy/data.bin"), []byte("damaged"))
				case "half a download":
					write(t, filepath.Join(dir, "downloads", name+".part"), data[:len(data)/2])
				case "a copy":
					mine, requests = "downloads/"+name, 0
				case "left by a kill":
					if name != "data.bin" {
						write(t, filepath.Join(dir, "toy/.unpack/old.bin"), content[:10])
					}
					mine = "other/.unpack/data.bin" // of a set that another process may fetch
				}
				write(t, filepath.Join(dir, mine), data)
				said, err := fetchToy(t, e, dir)
				switch {
				case err != nil:
					t.Errorf("%s, %s: %v", name, before, err)
				case !strings.Contains(said, "complete"):
					t.Errorf("%s, %s: said is %q; want %q in it", name, before, said, "complete")
				case s.requests.Load() != requests:
					t.Errorf("%s, %s: s.requests.Load() is %d; want %d", name, before, s.requests.Load(), requests)
				}
				holds(t, dir, content)
				if more, _ := os.ReadFile(filepath.Join(dir, "toy/deep/er/more.txt")); name != "data.bin" &&
					string(more) != "more" {
					t.Errorf("more.txt holds %q", more)
				}
				if _, err := os.Stat(filepath.Join(dir, "toy/skipped.txt")); err == nil {
					t.Error("a member outside of the folder was unpacked")
				}
				if kept, _ := os.ReadFile(filepath.Join(dir, mine)); !bytes.Equal(kept, data) {
					t.Errorf("%s, %s: the user's file has %d bytes now", name, before, len(kept))
				}
				if _, err := fetchToy(t, e, dir); err != nil || s.requests.Load() != requests {
					t.Errorf("%s, fetched again: %v after %d requests", name, expect.Text(err), s.requests.Load())
				}
			}
		})
	}
}

// TestFetchWrong: a file other than the publisher's is not installed, and the next fetch begins
// anew.
func TestFetchWrong(t *testing.T) {
	content := someBytes(5000)
	s := &server{data: content}
	e, dir := toyEntry(t, s, "data.bin", content)
	s.data = bytes.Clone(content)
	s.data[17]++
	if _, err := fetchToy(t, e, dir); err == nil {
		t.Error("a wrong checksum: no error")
	}
	if _, err := os.Stat(filepath.Join(dir, "toy")); err == nil {
		t.Error("the wrong file was installed")
	}
	s.data = content
	if _, err := fetchToy(t, e, dir); err != nil {
		t.Errorf("the next fetch, of the right file: %v", err)
	}
	holds(t, dir, content)

	e, dir = toyEntry(t, &server{data: tarOf(t, map[string][]byte{"toy/other.bin": content})}, "toy.tar.gz", content)
	if _, err := fetchToy(t, e, dir); err == nil {
		t.Errorf("an archive without the file: %v", expect.Text(err))
	}
}

// TestFetchWrongCopy: a copy that is not the publisher's file is named and stays, and another is
// downloaded beside it.
func TestFetchWrongCopy(t *testing.T) {
	content := someBytes(1000)
	flipped := bytes.Clone(content)
	flipped[17]++
	for name, mine := range map[string][]byte{"wrong checksum": flipped, "half": content[:500], "empty": nil} {
		t.Run(name, func(t *testing.T) {
			for _, status := range []int{0, 404} {
				e, dir := toyEntry(t, &server{data: content, status: status}, "data.bin", content)
				path := filepath.Join(dir, "downloads/data.bin")
				write(t, path, mine)
				said, err := fetchToy(t, e, dir)
				if status == 0 {
					holds(t, dir, content)
				} else if err != nil {
					said = err.Error()
				}
				if (err == nil) != (status == 0) || !strings.Contains(said, path) {
					t.Errorf("%s, status %d: error %v, said %q", name, status, expect.Text(err), said)
				}
				if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, mine) {
					t.Errorf("%s, status %d: the user's file has %d bytes now, %v", name, status, len(got), expect.Text(err))
				}
			}
		})
	}
}

// TestFetchTogether: processes that fetch the same set wait for each other.
func TestFetchTogether(t *testing.T) {
	content := someBytes(100_000)
	s := &server{data: tarOf(t, toyMembers(content)), slow: 50 * time.Millisecond}
	e, dir := toyEntry(t, s, "toy.tar.gz", content)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := fetchToy(t, e, dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	holds(t, dir, content)
	if n := s.requests.Load(); n != 1 {
		t.Errorf("%d downloads; want one", n)
	}
}

// TestFetchNothingToWrite: where the files are complete, nothing has to be written.
func TestFetchNothingToWrite(t *testing.T) {
	content := someBytes(1000)
	s := &server{data: content}
	e, dir := toyEntry(t, s, "data.bin", content)
	write(t, filepath.Join(dir, "toy/data.bin"), content)
	write(t, filepath.Join(dir, "downloads"), nil) // where a folder cannot be made
	if _, err := fetchToy(t, e, dir); err != nil || s.requests.Load() != 0 {
		t.Errorf("error %v, %d requests", expect.Text(err), s.requests.Load())
	}
	e.Files = append(e.Files, File{Path: "toy/more.bin", Bytes: 5, SHA256: "of no file"})
	e.Downloads = append(e.Downloads, Source{URL: "http://127.0.0.1:1/more.bin", Bytes: 5, folder: "toy"})
	for _, downloads := range []string{"a file", "a folder"} {
		t.Run(downloads, func(t *testing.T) {
			if _, err := fetchToy(t, e, dir); err == nil || s.requests.Load() != 0 {
				t.Errorf("what is whole was downloaded again, or what is not is no error: %d requests, %v",
					s.requests.Load(), expect.Text(err))
			}
			os.Remove(filepath.Join(dir, "downloads"))
		})
	}
	if err := Fetch(t.Context(), "glyphs", Options{}); err != nil {
		t.Errorf("a set that is generated: %v", err)
	}
}

// TestFetchIntoOtherDisk: the folder of a set can be a link to another disk.
func TestFetchIntoOtherDisk(t *testing.T) {
	disk, err := os.MkdirTemp("/dev/shm", "parallelcl-*")
	if err != nil {
		t.Skip("there is no second file system: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(disk) })
	content := someBytes(1000)
	e, dir := toyEntry(t, &server{data: tarOf(t, toyMembers(content))}, "toy.tar.gz", content)
	link(t, disk, filepath.Join(dir, "toy"))
	if _, err := fetchToy(t, e, dir); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, content)
}
