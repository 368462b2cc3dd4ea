package download

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A server serves one file and can be told to misbehave.
type server struct {
	data     []byte
	tag      string
	noRange  bool              // ignores Range
	cutAfter atomic.Int64      // bytes after which the connection breaks, once; 0 means never
	status   func(n int64) int // answer to request n instead of the file; 0 means the file
	requests atomic.Int64
	last     atomic.Pointer[http.Request]
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.last.Store(r.Clone(r.Context()))
	n := s.requests.Add(1)
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

// start starts a server and says where a file of so many bytes lies, and where it is to go.
func start(t *testing.T, h http.Handler, n int) (f File, part string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return File{URL: s.URL + "/file", Bytes: int64(n)}, filepath.Join(t.TempDir(), "file.part")
}

// quick is a client that waits for nothing long.
func quick() *Client {
	c := New()
	c.Pause, c.Retries = time.Millisecond, 2
	return c
}

// flush sends what was written so far.
func flush(w http.ResponseWriter) { w.(http.Flusher).Flush() }

func someBytes(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// arrived checks that part holds data and nothing lies beside it but a tag.
func arrived(t *testing.T, part string, data []byte) {
	t.Helper()
	if got, err := os.ReadFile(part); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes arrived (%v), or others than the %d that were served", len(got), err, len(data))
	}
	entries, _ := os.ReadDir(filepath.Dir(part))
	for _, e := range entries {
		if e.Name() != filepath.Base(part) && e.Name() != filepath.Base(tagFile(part)) {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

// fails checks that an error says all of what it should, once.
func fails(t *testing.T, err error, want ...string) {
	t.Helper()
	for _, w := range want {
		if err == nil || strings.Count(err.Error(), w) != 1 {
			t.Errorf("error %v: want one that says %q once", err, w)
		}
	}
}

// a counting bar.
type counted struct {
	bytes.Buffer
	closed bool
}

func (c *counted) Close() error { c.closed = true; return nil }

var _ io.WriteCloser = (*counted)(nil)

func rangeFrom(n int64) string { return fmt.Sprintf("bytes=%d-", n) }
