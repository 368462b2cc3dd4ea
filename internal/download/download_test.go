package download

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/disk"
)

func TestDownload(t *testing.T) {
	data := someBytes(300_000)
	s := &server{data: data}
	f, part := start(t, s, len(data))
	var bar counted
	c := quick()
	c.Bar = func(_ File, have int64) io.WriteCloser {
		if have != 0 {
			t.Errorf("the bar begins at %d", have)
		}
		return &bar
	}
	for range 2 {
		if err := c.To(t.Context(), f, part); err != nil {
			t.Fatal(err)
		}
		arrived(t, part, data)
	}
	if s.requests.Load() != 1 || bar.Len() != len(data) || !bar.closed {
		t.Errorf("%d requests, the bar was told of %d bytes", s.requests.Load(), bar.Len())
	}
}

func TestResumes(t *testing.T) {
	data := someBytes(500_000)
	for name, tag := range map[string]string{"with tag": `"v1"`, "without": ""} {
		s := &server{data: data, tag: tag}
		s.cutAfter.Store(200_000)
		f, part := start(t, s, len(data))
		if err := quick().To(t.Context(), f, part); err != nil {
			t.Fatal(err)
		}
		arrived(t, part, data)
		if h := s.last.Load().Header; s.requests.Load() != 2 || h.Get("Range") != rangeFrom(200_000) || h.Get("If-Range") != tag {
			t.Errorf("%s: %d requests, the second for %q of %q", name, s.requests.Load(), h.Get("Range"), h.Get("If-Range"))
		}
	}
}

func TestRangeIgnored(t *testing.T) {
	data := someBytes(500_000)
	s := &server{data: data, noRange: true}
	s.cutAfter.Store(200_000)
	f, part := start(t, s, len(data))
	if err := quick().To(t.Context(), f, part); err != nil {
		t.Fatal(err)
	}
	arrived(t, part, data)
}

// TestChangedFile: the part here belongs to an older version, which If-Range makes known.
func TestChangedFile(t *testing.T) {
	data := someBytes(5000)
	f, part := start(t, &server{data: data, tag: `"new"`}, len(data))
	os.WriteFile(part, make([]byte, 2000), 0o600)
	os.WriteFile(tagFile(part), []byte(`"old"`), 0o600)
	if err := quick().To(t.Context(), f, part); err != nil {
		t.Fatal(err)
	}
	arrived(t, part, data)
}

func TestPartTooLong(t *testing.T) {
	data := someBytes(5000)
	for _, have := range []int{6000, 5_000_000} { // the second exceeds any limit on time for the bytes that are left
		f, part := start(t, &server{data: data}, len(data))
		os.WriteFile(part, make([]byte, have), 0o600)
		if err := quick().To(t.Context(), f, part); err != nil {
			t.Fatal(err)
		}
		arrived(t, part, data)
	}
}

// A part whose beginning is of another file, which no tag told, is noticed at the end.
func TestCheck(t *testing.T) {
	data := someBytes(5000)
	wrong := errors.New("another file")
	check := func(_ context.Context, path string) error {
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
			return wrong
		}
		return nil
	}
	s := &server{data: data}
	f, part := start(t, s, len(data))
	f.Check = check
	for _, have := range []int{100, 5000} {
		os.WriteFile(part, make([]byte, have), 0o600)
		if err := quick().To(t.Context(), f, part); err != nil {
			t.Errorf("%d wrong bytes were here: %v", have, err)
		}
		arrived(t, part, data)
	}
	s.data = make([]byte, 5000)
	for name, make := range map[string]func(){"nothing": func() { Forget(part) }, "wrong bytes": func() { os.WriteFile(part, []byte("wrong"), 0o600) }} {
		make()
		before := s.requests.Load()
		if err := quick().To(t.Context(), f, part); !errors.Is(err, wrong) || s.requests.Load() > before+2 {
			t.Errorf("%s was here: error %v after %d requests", name, err, s.requests.Load()-before)
		}
		if _, err := os.Stat(part); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was here: the wrong file stays", name)
		}
	}
}

func TestStatus(t *testing.T) {
	data := someBytes(5000)
	for name, c := range map[string]struct {
		status   func(n int64) int
		want     string
		requests int64
	}{
		"busy, then fine": {func(n int64) int { return map[bool]int{true: 503}[n < 3] }, "", 3},
		"always busy":     {func(int64) int { return 503 }, "503 Service Unavailable", 3},
		"not there":       {func(int64) int { return 404 }, "404 Not Found", 1},
		"not modified":    {func(int64) int { return 304 }, "304 Not Modified", 1},
	} {
		s := &server{data: data, status: c.status}
		f, part := start(t, s, len(data))
		err := quick().To(t.Context(), f, part)
		if (err == nil) != (c.want == "") || s.requests.Load() != c.requests {
			t.Errorf("%s: error %v after %d requests, want %d", name, err, s.requests.Load(), c.requests)
		}
		if c.want != "" {
			fails(t, err, c.want, f.URL)
			if _, err := os.Stat(part); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: a file was made", name)
			}
		}
	}
}

func TestNoServer(t *testing.T) {
	h := httptest.NewServer(http.NotFoundHandler())
	f := File{URL: h.URL + "/file", Bytes: 5000}
	h.Close()
	c, again := quick(), 0
	c.Again = func(File, error) { again++ }
	fails(t, c.To(t.Context(), f, filepath.Join(t.TempDir(), "part")), f.URL, "refused")
	if again != c.Retries {
		t.Errorf("%d retries, want %d", again, c.Retries)
	}
}

func TestCancelledKeepsPart(t *testing.T) {
	data := someBytes(500_000)
	ctx, cancel := context.WithCancel(t.Context())
	var f File
	var part string
	f, part = start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "500000")
		w.Write(data[:300_000])
		flush(w)
		for begin := time.Now(); size(part) < 300_000 && time.Since(begin) < 10*time.Second; {
			time.Sleep(time.Millisecond)
		}
		cancel()
		<-r.Context().Done()
	}), len(data))
	err := quick().To(ctx, f, part)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v: want context.Canceled", err)
	}
	fails(t, err, "goes on from there")
	if size(part) != 300_000 {
		t.Fatalf("%d bytes are kept: want 300000", size(part))
	}
	s := &server{data: data}
	f.URL = startAgain(t, s)
	if err := quick().To(t.Context(), f, part); err != nil {
		t.Fatal(err)
	}
	if r := s.last.Load().Header.Get("Range"); r != rangeFrom(300_000) {
		t.Errorf("the second download asked for %q", r)
	}
	arrived(t, part, data)
}

func startAgain(t *testing.T, h http.Handler) string {
	f, _ := start(t, h, 0)
	return f.URL
}

// Nothing is asked of a server where its file would not fit.
func TestNoRoom(t *testing.T) {
	if disk.Room(t.TempDir(), math.MaxInt64) == nil {
		t.Skip("this system does not tell how much room there is")
	}
	s := &server{data: someBytes(100)}
	f, part := start(t, s, 0)
	f.Bytes = math.MaxInt64
	err := quick().To(t.Context(), f, part)
	if !errors.Is(err, disk.ErrFull) || s.requests.Load() != 0 {
		t.Errorf("error %v after %d requests", err, s.requests.Load())
	}
}

// A disk that fills is no reason to try again.
func TestFullDiskIsFinal(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "part", Err: syscall.ENOSPC}
	_, err := copyBody(failing{full}, bytes.NewReader(make([]byte, 100)), 100, func([]byte) { t.Error("counted what was not written") })
	if !errors.Is(err, syscall.ENOSPC) || isTransient(err) {
		t.Errorf("error %v, transient: %v", err, isTransient(err))
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
