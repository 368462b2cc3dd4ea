package datasets

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A server serves one file and can be told to misbehave.
type server struct {
	data     []byte
	tag      string
	noRange  bool                // ignores Range
	cutAfter atomic.Int64        // bytes after which the connection breaks, once; 0 means never
	before   func(*http.Request) // called at the start of each request
	status   func(n int64) int   // answer to request n instead of the file; 0 means the file
	requests atomic.Int64
	ranges   sync.Map // request number → Range header
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := s.requests.Add(1)
	s.ranges.Store(n, r.Header.Get("Range"))
	if s.before != nil {
		s.before(r)
	}
	if s.status != nil {
		if code := s.status(n); code != 0 {
			w.WriteHeader(code)
			return
		}
	}
	if s.tag != "" {
		w.Header().Set("ETag", s.tag)
	}
	if cut := s.cutAfter.Swap(0); cut > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(s.data)))
		w.Write(s.data[:cut])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	if s.noRange {
		r.Header.Del("Range")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.data))
}

// toyEntry is a set of one file, toy/data.bin, in the given archive.
func toyEntry(t *testing.T, s *server, archive string, content []byte) *entry {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	sum := func(b []byte) string { return fmt.Sprintf("%x", md5.Sum(b)) }
	src := Source{URL: h.URL + "/" + archive, Bytes: int64(len(s.data)), MD5: sum(s.data), folder: "toy", keep: keepUnder("toy")}
	if archive == "data.bin" {
		src.keep = nil
	}
	return &entry{Info: Info{Name: "toy", Files: []File{{Path: "toy/data.bin", Bytes: int64(len(content)), MD5: sum(content)}}, Downloads: []Source{src}}}
}

func testGetter(w io.Writer) *getter {
	g := newGetter(progress{w})
	g.pause = time.Millisecond
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
	content := someBytes(500_000)
	for name, tag := range map[string]string{"with tag": `"v1"`, "without": ""} {
		t.Run(name, func(t *testing.T) {
			s := &server{data: content, tag: tag}
			s.cutAfter.Store(200_000)
			e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
			if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
				t.Fatal(err)
			}
			checkToy(t, dir, content)
			r, _ := s.ranges.Load(int64(2))
			if s.requests.Load() != 2 || r != "bytes=200000-" {
				t.Errorf("%d requests, the second for %q: want 2, bytes=200000-", s.requests.Load(), r)
			}
		})
	}
}

func TestFetchRangeIgnored(t *testing.T) {
	content := someBytes(500_000)
	s := &server{data: content, noRange: true}
	s.cutAfter.Store(200_000)
	e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
		t.Fatal(err)
	}
	checkToy(t, dir, content)
}

// TestFetchChangedFile: the part here belongs to an older version, which If-Range makes known.
func TestFetchChangedFile(t *testing.T) {
	content := someBytes(5000)
	s := &server{data: content, tag: `"new"`}
	e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
	part := filepath.Join(dir, "downloads/data.bin.part")
	writeFile(t, part, make([]byte, 2000))
	writeFile(t, tagFile(part), []byte(`"old"`))
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
		t.Fatal(err)
	}
	checkToy(t, dir, content)
}

func TestFetchPartTooLong(t *testing.T) {
	content := someBytes(5000)
	s := &server{data: content}
	e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
	writeFile(t, filepath.Join(dir, "downloads/data.bin.part"), make([]byte, 6000))
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
		t.Fatal(err)
	}
	checkToy(t, dir, content)
}

func TestFetchWrongChecksum(t *testing.T) {
	content := someBytes(5000)
	s := &server{data: content}
	e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
	s.data = bytes.Clone(content)
	s.data[17]++
	err := fetch(t.Context(), e, dir, testGetter(nil))
	if err == nil || !strings.Contains(err.Error(), "MD5 is") || !strings.Contains(err.Error(), "fetch again") {
		t.Errorf("error %v: want one about the MD5", err)
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

func TestFetchWrongSize(t *testing.T) {
	content := someBytes(5000)
	s := &server{data: content}
	e := toyEntry(t, s, "data.bin", content)
	s.data = append(bytes.Clone(content), 1)
	err := fetch(t.Context(), e, t.TempDir(), testGetter(nil))
	if err == nil || !strings.Contains(err.Error(), "offers 5001 bytes, the official file has 5000") || s.requests.Load() != 1 {
		t.Errorf("error %v after %d requests", err, s.requests.Load())
	}
}

func TestFetchEndlessBody(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush() // no Content-Length
		for range 100 {
			w.Write(make([]byte, 1000))
		}
	}))
	defer h.Close()
	part := filepath.Join(t.TempDir(), "x.part")
	err := testGetter(nil).get(t.Context(), Source{URL: h.URL, Bytes: 5000}, part)
	if err == nil || !strings.Contains(err.Error(), "more than the 5000 bytes") {
		t.Errorf("error %v: want one about too many bytes", err)
	}
	if n := fileSize(part); n > 5000 {
		t.Errorf("%d bytes were written: want at most 5000", n)
	}
}

func TestFetchStatus(t *testing.T) {
	content := someBytes(5000)
	for name, c := range map[string]struct {
		status   func(n int64) int
		want     string
		requests int64
	}{
		"busy, then fine": {func(n int64) int { return map[bool]int{true: 503}[n < 3] }, "", 3},
		"always busy":     {func(int64) int { return 503 }, "503", 5},
		"not there":       {func(int64) int { return 404 }, "404", 1},
	} {
		s := &server{data: content, status: c.status}
		e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
		err := fetch(t.Context(), e, dir, testGetter(nil))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || s.requests.Load() != c.requests {
			t.Errorf("%s: error %v after %d requests: want %q after %d", name, err, s.requests.Load(), c.want, c.requests)
		}
	}
}

func TestFetchNoServer(t *testing.T) {
	h := httptest.NewServer(http.NotFoundHandler())
	address := h.URL + "/data.bin"
	h.Close()
	var out bytes.Buffer
	g := testGetter(&out)
	err := g.get(t.Context(), Source{URL: address, Bytes: 5000}, filepath.Join(t.TempDir(), "x.part"))
	if err == nil || strings.Count(err.Error(), address) != 1 {
		t.Errorf("error %v: want one that names the address once", err)
	}
	if n := strings.Count(out.String(), "trying again"); n != g.retries {
		t.Errorf("%d retries: want %d", n, g.retries)
	}
}

func TestFetchStalls(t *testing.T) {
	content := someBytes(5000)
	s := &server{data: content}
	block := make(chan struct{})
	first := true
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !first {
			s.ServeHTTP(w, r)
			return
		}
		first = false
		w.Header().Set("Content-Length", "5000")
		w.Write(content[:100])
		w.(http.Flusher).Flush()
		<-block
	}))
	defer h.Close()
	defer close(block)
	g := testGetter(nil)
	g.stall = 50 * time.Millisecond
	part := filepath.Join(t.TempDir(), "x.part")
	if err := g.get(t.Context(), Source{URL: h.URL, Bytes: 5000}, part); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(part); !bytes.Equal(got, content) {
		t.Error("after the stall other bytes arrived than were served")
	}
}

func TestFetchCancelledKeepsPart(t *testing.T) {
	content := someBytes(500_000)
	ctx, cancel := context.WithCancel(t.Context())
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "500000")
		w.Write(content[:300_000])
		w.(http.Flusher).Flush()
		time.Sleep(100 * time.Millisecond)
		cancel()
		<-r.Context().Done()
	}))
	defer h.Close()
	s := &server{data: content}
	e, dir := toyEntry(t, s, "data.bin", content), t.TempDir()
	good := e.Downloads[0].URL
	e.Downloads[0].URL = h.URL + "/data.bin"
	err := fetch(ctx, e, dir, testGetter(nil))
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "goes on from there") {
		t.Fatalf("error %v: want context.Canceled", err)
	}
	have := fileSize(filepath.Join(dir, "downloads/data.bin.part"))
	if have != 300_000 {
		t.Fatalf("%d bytes are kept: want 300000", have)
	}
	e.Downloads[0].URL = good
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
		t.Fatal(err)
	}
	if r, _ := s.ranges.Load(int64(1)); r != "bytes=300000-" {
		t.Errorf("the second fetch asked for %q", r)
	}
	checkToy(t, dir, content)
}

func TestFetchByHand(t *testing.T) {
	content := someBytes(1000)
	s := &server{data: tarOf(t, member{name: "toy/data.bin", data: content})}
	e, dir := toyEntry(t, s, "toy.tar.gz", content), t.TempDir()
	writeFile(t, filepath.Join(dir, "downloads/toy.tar.gz"), s.data)
	if err := fetch(t.Context(), e, dir, testGetter(nil)); err != nil {
		t.Fatal(err)
	}
	checkToy(t, dir, content)
	if s.requests.Load() != 0 {
		t.Errorf("%d requests although the file was there", s.requests.Load())
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

func TestUnpackRefuses(t *testing.T) {
	most := limits{bytes: 100, members: 3}
	big := make([]byte, 101)
	small := member{name: "toy/a", data: []byte("a")}
	for _, c := range []struct {
		name, want string
		members    []member
		tarOnly    bool
	}{
		{"up", "leads out", []member{{name: "../evil"}}, false},
		{"up inside", "leads out", []member{{name: "toy/../../evil"}}, false},
		{"absolute", "leads out", []member{{name: "/evil"}}, false},
		{"backslash", "leads out", []member{{name: `toy\..\evil`}}, false},
		{"symbolic link", "link or a special file", []member{{name: "toy/l", link: "/etc", kind: tar.TypeSymlink}}, false},
		{"hard link", "link or a special file", []member{small, {name: "toy/l", link: "toy/a", kind: tar.TypeLink}}, true},
		{"device", "link or a special file", []member{{name: "toy/d", kind: tar.TypeChar}}, true},
		{"twice", "exist", []member{small, small}, false},
		{"too large", "unpacks to more", []member{{name: "toy/big", data: big}}, false},
		{"too many", "more members", []member{small, {name: "b"}, {name: "c"}, {name: "d"}}, false},
	} {
		archives := map[archiveFormat][]byte{tarGzip: tarOf(t, c.members...)}
		if !c.tarOnly {
			archives[zipArchive] = zipOf(t, c.members...)
		}
		for kind, data := range archives {
			parent := t.TempDir()
			dir, file := filepath.Join(parent, "in"), filepath.Join(parent, "archive")
			writeFile(t, file, data)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			err := unpack(t.Context(), file, kind, keepUnder("toy"), dir, most)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s (format %d): error %v: want one with %q", c.name, kind, err, c.want)
			}
			if found, _ := filepath.Glob(filepath.Join(parent, "*vil*")); len(found) > 0 {
				t.Errorf("%s (format %d): wrote %v", c.name, kind, found)
			}
		}
	}
}

func TestUnpackBroken(t *testing.T) {
	whole := tarOf(t, member{name: "toy/a", data: someBytes(1000)})
	dir := t.TempDir()
	for name, data := range map[string][]byte{"empty": nil, "nonsense": []byte("nonsense"), "cut": whole[:len(whole)/2]} {
		file := filepath.Join(dir, name)
		writeFile(t, file, data)
		for _, kind := range []archiveFormat{tarGzip, zipArchive} {
			out := t.TempDir()
			if err := unpack(t.Context(), file, kind, keepUnder("toy"), out, defaultLimits); err == nil {
				t.Errorf("%s (format %d): no error", name, kind)
			}
		}
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
	want := []Status{Missing, Damaged, Damaged, Readable}
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
