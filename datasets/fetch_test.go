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
	"io"
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
)

// A server serves one file and can be told to misbehave.
type server struct {
	data     []byte
	before   func(*http.Request) // called at the start of each request
	status   func(n int64) int   // answer to request n instead of the file; 0 means the file
	requests atomic.Int64
	asked    atomic.Value // the last request's Range
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.requests.Add(1)
	s.asked.Store(r.Header.Get("Range"))
	if s.before != nil {
		s.before(r)
	}
	if s.status != nil {
		if code := s.status(n); code != 0 {
			w.WriteHeader(code)
			return
		}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.data))
}

// toyEntry is a set of one file, toy/data.bin, in the given archive.
func toyEntry(t *testing.T, s *server, archive string, content []byte) *entry {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	sum := func(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }
	src := Source{URL: h.URL + "/" + archive, Bytes: int64(len(s.data)), SHA256: sum(s.data), folder: "toy", keep: func(m string) (string, bool) { return strings.CutPrefix(m, "toy/") }}
	if archive == "data.bin" {
		src.keep = nil
	}
	return &entry{format: toyFormat{}, Info: Info{Name: "toy", Files: []File{{Path: "toy/data.bin", Bytes: int64(len(content)), SHA256: sum(content)}}, Downloads: []Source{src}}}
}

// toyFormat finds every file well-formed.
type toyFormat struct{ format }

func (toyFormat) check(context.Context, string, File) (int, error) { return 0, nil }

func testGetter(w io.Writer) *getter {
	g := newGetter(progress{w})
	g.Pause = time.Millisecond
	return g
}

func someBytes(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// A member is what a test puts into an archive.
type member struct {
	name, link string
	data       []byte
	kind       byte
}

func tarOf(t *testing.T, members ...member) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for _, m := range members {
		if err := w.WriteHeader(&tar.Header{Name: m.name, Linkname: m.link, Size: int64(len(m.data)), Mode: 0o644, Typeflag: m.kind}); err != nil {
			t.Fatal(err)
		}
		w.Write(m.data)
	}
	w.Close()
	z.Close()
	return buf.Bytes()
}

func zipOf(t *testing.T, members ...member) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if m.kind == tar.TypeSymlink {
			h.SetMode(os.ModeSymlink | 0o777)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		f.Write(m.data)
	}
	w.Close()
	return buf.Bytes()
}

func checkToy(t *testing.T, dir string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, "toy/data.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("toy/data.bin has %d bytes, or others than the %d that were served", len(got), len(want))
	}
	left, _ := filepath.Glob(filepath.Join(dir, "downloads", "*.part*"))
	tmp, _ := filepath.Glob(filepath.Join(dir, ".unpack-*"))
	if len(left)+len(tmp) > 0 {
		t.Errorf("left behind: %v %v", left, tmp)
	}
}

func TestFetchArchives(t *testing.T) {
	content := someBytes(300_000)
	members := []member{{name: "./toy/", kind: tar.TypeDir}, {name: "toy/data.bin", data: content}, {name: "toy/deep/er/more.txt", data: []byte("more")}, {name: "other/skipped.txt"}}
	for name, data := range map[string][]byte{"toy.tar.gz": tarOf(t, members...), "toy.zip": zipOf(t, members...), "data.bin": content} {
		t.Run(name, func(t *testing.T) {
			s := &server{data: data}
			e, dir := toyEntry(t, s, name, content), t.TempDir()
			var out bytes.Buffer
			if err := fetch(t.Context(), e, dir, testGetter(&out)); err != nil {
				t.Fatal(err)
			}
			checkToy(t, dir, content)
			if !strings.Contains(out.String(), "100 %") || !strings.Contains(out.String(), "complete") {
				t.Errorf("progress: %q", out.String())
			}
			if name != "data.bin" {
				if more, err := os.ReadFile(filepath.Join(dir, "toy/deep/er/more.txt")); err != nil || string(more) != "more" {
					t.Errorf("more.txt: %q, %v", more, err)
				}
				if _, err := os.Stat(filepath.Join(dir, "toy/skipped.txt")); err == nil {
					t.Error("a member outside of the folder was unpacked")
				}
			}
			if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil || s.requests.Load() != 1 {
				t.Errorf("fetching again: error %v, %d requests: want nothing to do", err, s.requests.Load())
			}
		})
	}
}

func TestFetchRepairs(t *testing.T) {
	content := someBytes(1000)
	s := &server{data: tarOf(t, member{name: "toy/data.bin", data: content})}
	e, dir := toyEntry(t, s, "toy.tar.gz", content), t.TempDir()
	writeFile(t, filepath.Join(dir, "toy/data.bin"), []byte("damaged"))
	writeFile(t, filepath.Join(dir, "toy/mine.txt"), []byte("mine"))
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
		t.Fatal(err)
	}
	checkToy(t, dir, content)
	if mine, _ := os.ReadFile(filepath.Join(dir, "toy/mine.txt")); string(mine) != "mine" {
		t.Error("a file of the user's in the same folder is gone")
	}
}

func TestFetchResumes(t *testing.T) {
	content := someBytes(5000)
	s := &server{data: content}
	e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
	writeFile(t, filepath.Join(dir, "downloads/data.bin.part"), content[:3000])
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
		t.Fatal(err)
	}
	checkToy(t, dir, content)
	if s.asked.Load() != "bytes=3000-" {
		t.Errorf("asked for %v", s.asked.Load())
	}
}

func TestFetchTriesAgain(t *testing.T) {
	content := someBytes(5000)
	s := &server{data: content, status: func(n int64) int { return map[bool]int{true: 503}[n < 3] }}
	e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
	var out bytes.Buffer
	if err := fetch(t.Context(), e, dir, testGetter(&out)); err != nil {
		t.Fatal(err)
	}
	checkToy(t, dir, content)
	if n := strings.Count(out.String(), "trying again"); n != 2 {
		t.Errorf("said %q", out.String())
	}
}

func TestFetchWrongChecksum(t *testing.T) {
	content := someBytes(5000)
	s := &server{data: content}
	e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
	s.data = bytes.Clone(content)
	s.data[17]++
	err := fetch(t.Context(), e, dir, testGetter(nil))
	if err == nil || !strings.Contains(err.Error(), "SHA-256 is") || !strings.Contains(err.Error(), "fetch again") {
		t.Errorf("error %v: want one about the checksum", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "toy")); err == nil {
		t.Error("the wrong file was installed")
	}
	s.data[17]--
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
		t.Errorf("the next fetch, of the right file: %v", err)
	}
	checkToy(t, dir, content)
}

// A download that the user has put by hand is used, and stays.
func TestFetchByHand(t *testing.T) {
	content := someBytes(1000)
	for name, data := range map[string][]byte{"toy.tar.gz": tarOf(t, member{name: "toy/data.bin", data: content}), "data.bin": content} {
		s := &server{data: data}
		e, dir := toyEntry(t, s, name, content), t.TempDir()
		mine := filepath.Join(dir, "downloads", name)
		writeFile(t, mine, data)
		if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
			t.Fatal(err)
		}
		checkToy(t, dir, content)
		if s.requests.Load() != 0 {
			t.Errorf("%s: %d requests although the file was there", name, s.requests.Load())
		}
		if got, err := os.ReadFile(mine); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: the user's file has %d bytes now, %v", name, len(got), err)
		}
	}
}

// One that is not the publisher's file stays, too: another is downloaded beside it.
func TestFetchWrongByHand(t *testing.T) {
	content := someBytes(1000)
	flipped := bytes.Clone(content)
	flipped[17]++
	for name, mine := range map[string][]byte{"wrong checksum": flipped, "half": content[:500], "empty": nil} {
		for _, online := range []bool{true, false} {
			s := &server{data: content}
			if !online {
				s.status = func(int64) int { return 404 }
			}
			e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
			path := filepath.Join(dir, "downloads/data.bin")
			writeFile(t, path, mine)
			var out bytes.Buffer
			err := fetch(t.Context(), e, dir, testGetter(&out))
			said := out.String()
			if online {
				checkToy(t, dir, content)
			} else if err != nil {
				said = err.Error()
			}
			if (err == nil) != online || !strings.Contains(said, path) || !strings.Contains(said, "left alone") {
				t.Errorf("%s, online %t: error %v, said %q", name, online, err, said)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, mine) {
				t.Errorf("%s, online %t: the user's file has %d bytes now, %v", name, online, len(got), err)
			}
		}
	}
}

func TestFetchConcurrent(t *testing.T) {
	content := someBytes(100_000)
	s := &server{data: tarOf(t, member{name: "toy/data.bin", data: content}), before: func(*http.Request) { time.Sleep(50 * time.Millisecond) }}
	e, dir := toyEntry(t, s, "toy.tar.gz", content), t.TempDir()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	checkToy(t, dir, content)
	if n := s.requests.Load(); n != 1 {
		t.Errorf("%d downloads: want one, the others wait for it", n)
	}
}

func TestFetchWaitsUntilCancelled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.lock")
	unlock, err := lock(t.Context(), path, "toy", progress{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var out bytes.Buffer
	if _, err := lock(ctx, path, "toy", progress{&out}); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(out.String(), "waiting") {
		t.Errorf("error %v, said %q: want a deadline error after a word about waiting", err, out.String())
	}
	unlock()
	unlock, err = lock(t.Context(), path, "toy", progress{})
	if err != nil {
		t.Fatalf("after unlock: %v", err)
	}
	unlock()
}

func TestFetchIncompleteArchive(t *testing.T) {
	s := &server{data: tarOf(t, member{name: "toy/other.bin", data: []byte("x")})}
	e, dir := toyEntry(t, s, "toy.tar.gz", []byte("y")), t.TempDir()
	err := fetch(t.Context(), e, dir, testGetter(nil))
	if err == nil || !strings.Contains(err.Error(), "toy/data.bin is missing") {
		t.Errorf("error %v: want one that names the missing file", err)
	}
}

func TestFetchGenerated(t *testing.T) {
	var out bytes.Buffer
	if err := Fetch(t.Context(), "glyphs", Options{Progress: &out}); err != nil || !strings.Contains(out.String(), "generated") {
		t.Errorf("error %v, said %q", err, out.String())
	}
	r, err := Verify(t.Context(), "glyphs", Options{})
	if err != nil || !r.Complete() {
		t.Errorf("report %v, error %v", r, err)
	}
}

func TestVerifyStatuses(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "mnist/t10k-images-idx3-ubyte.gz"), []byte("damaged"))
	writeFile(t, filepath.Join(dir, "mnist/t10k-labels-idx1-ubyte"), idxBytes([]byte{1, 2}, 2))
	writeFile(t, filepath.Join(dir, "mnist/train-labels-idx1-ubyte"), []byte("damaged"))
	r, err := Verify(t.Context(), "mnist", Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := []Status{Missing, Damaged, Damaged, Partial}
	for i, f := range r.Files {
		if f.Status != want[i] {
			t.Errorf("%s is %s (%s): want %s", f.Path, f.Status, f.Detail, want[i])
		}
	}
	if err := r.Err(); r.Complete() || err == nil || !strings.Contains(err.Error(), "train-images-idx3-ubyte.gz is missing") || !strings.Contains(err.Error(), "pcl data fetch mnist") {
		t.Errorf("complete %v, error %v", r.Complete(), err)
	}

	writeFile(t, filepath.Join(dir, "cifar-100-binary/train.bin"), cifarRecord([]byte{0, 0}, 1, 2, 3))
	writeFile(t, filepath.Join(dir, "cifar-100-binary/test.bin"), []byte("damaged"))
	if r, err = Verify(t.Context(), "cifar-100", Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	want = []Status{Partial, Damaged, Missing}
	for i, f := range r.Files {
		if f.Status != want[i] {
			t.Errorf("%s is %s (%s): want %s", f.Path, f.Status, f.Detail, want[i])
		}
	}
}

// TestFetchNothingToWrite: where the files are complete, nothing has to be written.
func TestFetchNothingToWrite(t *testing.T) {
	content := someBytes(1000)
	s := &server{data: content}
	e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
	writeFile(t, filepath.Join(dir, "toy/data.bin"), content)
	writeFile(t, filepath.Join(dir, "downloads"), nil) // where a folder cannot be made
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil || s.requests.Load() != 0 {
		t.Errorf("error %v, %d requests", err, s.requests.Load())
	}
	writeFile(t, filepath.Join(dir, "toy/data.bin"), content[:10])
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err == nil || !strings.Contains(err.Error(), "downloads") {
		t.Errorf("files that are not complete: error %v", err)
	}
}

// TestFetchLeftovers: what a process that was killed had unpacked is removed by the next.
func TestFetchLeftovers(t *testing.T) {
	content := someBytes(1000)
	s := &server{data: tarOf(t, member{name: "toy/data.bin", data: content})}
	for _, half := range []string{".unpack-toy-123/whole/data.bin", "toy/.unpack-toy-123/whole/data.bin"} {
		e, dir := toyEntry(t, s, "toy.tar.gz", content), t.TempDir()
		writeFile(t, filepath.Join(dir, half), content[:10])
		other := filepath.Join(dir, ".unpack-other-5", "data.bin") // of a set that another process may fetch
		writeFile(t, other, content)
		if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, half)); err == nil {
			t.Errorf("%s stays", half)
		}
		if err := os.RemoveAll(filepath.Dir(other)); err != nil {
			t.Error(err)
		}
		checkToy(t, dir, content)
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
	s := &server{data: tarOf(t, member{name: "toy/data.bin", data: content}, member{name: "toy/deep/er.txt", data: content})}
	e, dir := toyEntry(t, s, "toy.tar.gz", content), t.TempDir()
	link(t, disk, filepath.Join(dir, "toy"))
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
		t.Fatal(err)
	}
	checkToy(t, dir, content)
	for _, folder := range []string{dir, disk} {
		if left, _ := filepath.Glob(filepath.Join(folder, ".unpack-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}
