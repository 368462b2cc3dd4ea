package download

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// A server serves one file and can be told to misbehave.
type server struct {
	data     []byte
	noRange  bool              // ignores Range
	cutAfter atomic.Int64      // bytes after which the connection breaks, once; 0 means never
	status   func(n int64) int // answer to request n instead of the file; 0 means the file
	requests atomic.Int64
	last     atomic.Pointer[http.Request]
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.last.Store(r.Clone(r.Context()))
	n := s.requests.Add(1)
	if s.status != nil && s.status(n) != 0 {
		w.WriteHeader(s.status(n))
		return
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

// start starts a server and says where a file with this content lies, and where it is to go.
func start(t *testing.T, h http.Handler, data []byte) (f File, part string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return File{URL: s.URL + "/file", Bytes: int64(len(data)), SHA256: fmt.Sprintf("%x", sha256.Sum256(data))},
		filepath.Join(t.TempDir(), "file.part")
}

// quick is a client that waits for nothing long, and what it says.
func quick() (*Client, *bytes.Buffer) {
	said := new(bytes.Buffer)
	return &Client{Progress: said, Pause: time.Millisecond, Retries: 2}, said
}

// to downloads a file with such a client. It returns how often it was tried again.
func to(ctx context.Context, f File, part string) (again int, err error) {
	c, said := quick()
	err = c.To(ctx, f, part)
	return strings.Count(said.String(), "trying again"), err
}

func someBytes(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// brings downloads a file, and checks that it arrived and nothing lies beside it.
func brings(t *testing.T, f File, part string, data []byte) {
	t.Helper()
	if _, err := to(t.Context(), f, part); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(part); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes arrived (%v), or others than the %d that were served", len(got), expect.Text(err), len(data))
	}
	if entries, _ := os.ReadDir(filepath.Dir(part)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// TestDownload: a file arrives once.
func TestDownload(t *testing.T) {
	data := someBytes(300_000)
	s := &server{data: data}
	f, part := start(t, s, data)
	for range 2 {
		brings(t, f, part, data)
	}
	if s.requests.Load() != 1 {
		t.Errorf("%d requests", s.requests.Load())
	}
}

// TestResumes: after the connection broke, the rest is asked for, or all once more where the server
// knows no ranges.
func TestResumes(t *testing.T) {
	data := someBytes(500_000)
	for _, noRange := range []bool{false, true} {
		t.Run(fmt.Sprint(noRange), func(t *testing.T) {
			s := &server{data: data, noRange: noRange}
			s.cutAfter.Store(200_000)
			f, part := start(t, s, data)
			brings(t, f, part, data)
			if asked := s.last.Load().Header.Get("Range"); s.requests.Load() != 2 || !noRange && asked != "bytes=200000-" {
				t.Errorf("%d requests, the second for %q", s.requests.Load(), asked)
			}
		})
	}
}

// TestPartOfOther: a partial download may belong to an older version, which its length or its
// SHA-256 shows.
func TestPartOfOther(t *testing.T) {
	data := someBytes(5000)
	s := &server{data: data}
	f, part := start(t, s, data)
	for _, have := range []int{6000, 5_000_000, 100, 5000} {
		t.Run(fmt.Sprint(have), func(t *testing.T) {
			os.WriteFile(part, make([]byte, have), 0o600)
			brings(t, f, part, data)
		})
	}
	s.data = make([]byte, 5000)
	for _, have := range []string{"", "wrong"} {
		t.Run(have, func(t *testing.T) {
			os.Remove(part)
			if have != "" {
				os.WriteFile(part, []byte(have), 0o600)
			}
			before := s.requests.Load()
			if _, err := to(t.Context(), f, part); !errors.Is(err, errOther) || s.requests.Load() > before+2 {
				t.Errorf("%q was here: error %v after %d requests", have, expect.Text(err), s.requests.Load()-before)
			}
			_, err := os.Stat(part)
			expect.Refusal(t, fmt.Sprintf("%q was here", have), err, fs.ErrNotExist)
		})
	}
}

// TestStatus: only what may pass is tried again.
func TestStatus(t *testing.T) {
	data := someBytes(5000)
	for name, c := range map[string]struct {
		status   func(n int64) int
		requests int64
	}{
		"busy, then fine": {func(n int64) int { return map[bool]int{true: 503}[n < 3] }, 3},
		"always busy":     {func(int64) int { return 503 }, 3},
		"not there":       {func(int64) int { return 404 }, 1},
		"not modified":    {func(int64) int { return 304 }, 1},
		"wrong length":    {func(int64) int { return 0 }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{data: data, status: c.status}
			f, part := start(t, s, data)
			f.Bytes -= int64(strings.Count(name, "wrong"))
			_, err := to(t.Context(), f, part)
			if (err == nil) != (name == "busy, then fine") || s.requests.Load() != c.requests {
				t.Errorf("error %v after %d requests, want %d", expect.Text(err), s.requests.Load(), c.requests)
			}
		})
	}
	h := httptest.NewServer(http.NotFoundHandler())
	h.Close()
	if again, err := to(t.Context(), File{URL: h.URL, Bytes: 5000}, filepath.Join(t.TempDir(), "part")); err == nil ||
		again != 2 {
		t.Errorf("no server: error %v after %d retries", expect.Text(err), again)
	}
}

// TestCancelled: a download that is stopped keeps its part, from which the next goes on.
func TestCancelled(t *testing.T) {
	data := someBytes(500_000)
	ctx, cancel := context.WithCancel(t.Context())
	var f File
	var part string
	f, part = start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "500000")
		w.Write(data[:300_000])
		w.(http.Flusher).Flush()
		for begin := time.Now(); size(part) < 300_000 && time.Since(begin) < 10*time.Second; {
			time.Sleep(time.Millisecond)
		}
		cancel()
		<-r.Context().Done()
	}), data)
	if _, err := to(ctx, f, part); !errors.Is(err, context.Canceled) || size(part) != 300_000 {
		t.Fatalf("error %v, %d bytes are kept", expect.Text(err), size(part))
	}
	s := &server{data: data}
	other, _ := start(t, s, nil)
	f.URL = other.URL
	brings(t, f, part, data)
	if r := s.last.Load().Header.Get("Range"); r != "bytes=300000-" {
		t.Errorf("the second download asked for %q", r)
	}
}

// TestFullDisk: a disk that fills is not a reason to try again.
func TestFullDisk(t *testing.T) {
	if err := fromBody(&fs.PathError{Op: "write", Path: "part", Err: syscall.ENOSPC}); !errors.Is(err, syscall.ENOSPC) ||
		errors.As(err, new(transient)) {
		t.Errorf("error %v", expect.Text(err))
	}
	data := someBytes(5000)
	s := &server{data: data}
	f, part := start(t, s, data)
	must.Do(t, os.Mkdir(part, 0o777)) // what cannot be written
	if again, err := to(t.Context(), f, part); err == nil || again > 0 {
		t.Errorf("a folder in its place: error %v, tried %d times again", expect.Text(err), again)
	}
}

// sends is a handler that sends pieces for ever, with pauses between them; after a pause of 0, as
// fast as it can.
func sends(piece []byte, pause time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			select {
			case <-r.Context().Done():
			case <-time.After(pause):
				w.Write(piece)
				w.(http.Flusher).Flush()
			}
		}
	})
}

func TestEndlessBody(t *testing.T) {
	f, part := start(t, sends(make([]byte, 1<<16), 0), someBytes(5000))
	if _, err := to(t.Context(), f, part); err == nil || size(part) > 5000 {
		t.Errorf("%d bytes were written, %v", size(part), expect.Text(err))
	}
	if data, err := new(Client).Bytes(t.Context(), f.URL, 1<<20); data != nil || err == nil {
		t.Errorf("%d bytes were returned, %v", len(data), expect.Text(err))
	}
}

// TestSlow: a server that sends too slowly is given up, although every attempt brings something,
// and one that says nothing too.
func TestSlow(t *testing.T) {
	for name, h := range map[string]http.Handler{"drip": sends([]byte("x"), 2*time.Millisecond),
		"silence": sends(nil, time.Hour)} {
		t.Run(name, func(t *testing.T) {
			f, part := start(t, h, make([]byte, 1<<20))
			c, said := quick()
			c.Window = 50 * time.Millisecond
			if err := c.To(t.Context(), f, part); !errors.Is(err, errSlow) ||
				strings.Count(said.String(), "trying again") != c.Retries {
				t.Errorf("error %v, said %q", expect.Text(err), said)
			}
			_, err := c.Bytes(t.Context(), f.URL, 1<<20)
			expect.Refusal(t, fmt.Sprintf("%s, into memory", name), err, errSlow)
		})
	}
}

func TestRedirects(t *testing.T) {
	s := &server{data: someBytes(5000)}
	mux := http.NewServeMux()
	mux.Handle("/0", s)
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	for i := range maxRedirects + 2 {
		mux.Handle(fmt.Sprintf("/%d", i+1), http.RedirectHandler(fmt.Sprintf("/%d", i), http.StatusFound))
	}
	f, _ := start(t, mux, s.data)
	base := strings.TrimSuffix(f.URL, "/file")
	for path, good := range map[string]bool{"/5": true, "/6": false, "/loop": false} {
		t.Run(path, func(t *testing.T) {
			if _, err := new(Client).Bytes(t.Context(), base+path, 1<<20); (err == nil) != good {
				t.Error(expect.Text(err))
			}
		})
	}
	secure := httptest.NewTLSServer(http.RedirectHandler(base+"/0", http.StatusFound))
	defer secure.Close()
	before := http.DefaultTransport
	http.DefaultTransport = secure.Client().Transport
	defer func() { http.DefaultTransport = before }()
	// from https to http
	for _, address := range []string{secure.URL, "file:///etc/passwd", "ftp://127.0.0.1/", "relative", ""} {
		t.Run(address, func(t *testing.T) {
			if _, err := new(Client).Bytes(t.Context(), address, 1<<20); err == nil {
				t.Error("no error")
			}
		})
	}
}

// raw is a server that answers every request with the same bytes.
func raw(t *testing.T, answer string) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				conn.Read(make([]byte, 1<<16))
				conn.Write([]byte(answer))
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/file"
}

// TestEscapes: control characters in the errors of a server must not reach the terminal.
func TestEscapes(t *testing.T) {
	const escape = "\x1b[2J\x1b]0;owned\a\u009b31m"
	for name, answer := range map[string]string{
		"status":          "HTTP/1.1 404 gone" + escape + "\r\nContent-Length: 0\r\n\r\n",
		"busy":            "HTTP/1.1 503 later" + escape + "\r\nContent-Length: 0\r\n\r\n",
		"code":            "HTTP/1.1 4" + escape + "\r\n\r\n",
		"version":         "HTTP/" + escape + " 200 OK\r\n\r\n",
		"no HTTP":         escape + "\r\n\r\n",
		"header":          "HTTP/1.1 200 OK\r\nbad" + escape + "\r\n\r\n",
		"length":          "HTTP/1.1 200 OK\r\nContent-Length: " + escape + "\r\n\r\n",
		"encoding":        "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + escape + "\r\n\r\n",
		"location":        "HTTP/1.1 302 Found\r\nLocation: http://" + escape + "\r\n\r\n",
		"chunk":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + escape + "\r\n",
		"range":           "HTTP/1.1 206 Partial\r\nContent-Range: bytes " + escape + "\r\nContent-Length: 5000\r\n\r\n",
		"endless headers": "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+escape+"\r\n", 200_000) + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			f := File{URL: raw(t, answer), Bytes: 5000}
			c, said := quick()
			err := c.To(t.Context(), f, t.TempDir()+"/part")
			_, inMemory := c.Bytes(t.Context(), f.URL, 1<<20)
			if shown := fmt.Sprint(said, err, inMemory); err == nil || strings.ContainsAny(shown, "\x1b\a\u009b") {
				t.Errorf("shown as %q", shown)
			}
		})
	}
}
