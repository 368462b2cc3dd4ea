package download

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// endless sends for ever, as fast as it can.
var endless = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	flush(w) // no Content-Length
	for piece := make([]byte, 1<<16); ; {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
})

func TestEndlessBody(t *testing.T) {
	f, part := start(t, endless, 5000)
	fails(t, quick().To(t.Context(), f, part), "more than the 5000 bytes", f.URL)
	if n := size(part); n > 5000 {
		t.Errorf("%d bytes were written: want at most 5000", n)
	}
	data, err := quick().Bytes(t.Context(), f.URL, 1<<20)
	if data != nil {
		t.Errorf("%d bytes were returned", len(data))
	}
	fails(t, err, "more than 1.0 MB", f.URL)
}

func TestWrongLength(t *testing.T) {
	s := &server{data: someBytes(5001)}
	f, part := start(t, s, 5000)
	fails(t, quick().To(t.Context(), f, part), "offers 5001 bytes, the official file has 5000")
	if s.requests.Load() != 1 {
		t.Errorf("%d requests", s.requests.Load())
	}
}

// drip sends a byte now and then.
func drip(every time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(every):
				w.Write([]byte("x"))
				flush(w)
			}
		}
	})
}

// A server that sends too slowly is given up, although every attempt brings something.
func TestSlowDrip(t *testing.T) {
	f, part := start(t, drip(2*time.Millisecond), 1<<20)
	c, again := quick(), 0
	c.Again = func(File, error) { again++ }
	c.Window = 50 * time.Millisecond
	begin := time.Now()
	err := c.To(t.Context(), f, part)
	if !errors.Is(err, errSlow) || again != c.Retries {
		t.Errorf("error %v after %d retries, want %d", err, again, c.Retries)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
	_, err = c.Bytes(t.Context(), f.URL, 1<<20)
	if !errors.Is(err, errSlow) {
		t.Errorf("into memory: error %v", err)
	}
}

func TestStall(t *testing.T) {
	data := someBytes(5000)
	s := &server{data: data}
	block := make(chan struct{})
	var first atomic.Bool
	f, part := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if first.Swap(true) {
			s.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Length", "5000")
		w.Write(data[:100])
		flush(w)
		<-block
	}), len(data))
	defer close(block)
	c := quick()
	c.Window = 300 * time.Millisecond
	if err := c.To(t.Context(), f, part); err != nil {
		t.Fatal(err)
	}
	arrived(t, part, data)
}

// A server that says nothing at all is given up, too.
func TestSilence(t *testing.T) {
	block := make(chan struct{})
	f, part := start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-block }), 5000)
	defer close(block)
	c := quick()
	c.Window = 20 * time.Millisecond
	fails(t, c.To(t.Context(), f, part), "nothing came for 20ms")
}

func TestRedirects(t *testing.T) {
	s := &server{data: someBytes(5000)}
	mux := http.NewServeMux()
	mux.Handle("/file", s)
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	for i := range 7 {
		mux.Handle(fmt.Sprintf("/%d", i+1), http.RedirectHandler(fmt.Sprintf("/%d", i), http.StatusFound))
	}
	mux.Handle("/0", http.RedirectHandler("/file", http.StatusFound))
	f, part := start(t, mux, 5000)
	base := strings.TrimSuffix(f.URL, "/file")
	for path, want := range map[string]string{"/4": "", "/5": "more than 5 redirects", "/loop": "more than 5 redirects"} {
		Forget(part)
		f.URL = base + path
		err := quick().To(t.Context(), f, part)
		if want == "" && err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if want != "" {
			fails(t, err, want)
		}
	}
}

func TestRedirectFromHTTPS(t *testing.T) {
	plain := startAgain(t, &server{data: someBytes(5000)})
	secure := httptest.NewTLSServer(http.RedirectHandler(plain, http.StatusFound))
	defer secure.Close()
	c := quick()
	c.http.Transport = secure.Client().Transport
	_, err := c.Bytes(t.Context(), secure.URL, 1<<20)
	fails(t, err, "from https to http")
}

func TestOtherSchemes(t *testing.T) {
	for _, address := range []string{"file:///etc/passwd", "ftp://127.0.0.1/", "relative", ""} {
		if _, err := quick().Bytes(t.Context(), address, 1<<20); err == nil || !strings.Contains(err.Error(), "scheme") {
			t.Errorf("%s: error %v", address, err)
		}
	}
}

// raw is a server that answers every request with the same bytes.
func raw(t *testing.T, answer string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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

// What a server writes where its errors are shown must not reach the terminal as it is.
func TestEscapesAreNotPrinted(t *testing.T) {
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
		f, part := File{URL: raw(t, answer), Bytes: 5000}, t.TempDir()+"/part"
		c := quick()
		shown := ""
		c.Again = func(_ File, err error) { shown += err.Error() }
		err := c.To(t.Context(), f, part)
		_, inMemory := c.Bytes(t.Context(), f.URL, 1<<20)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if inMemory != nil {
			shown += inMemory.Error()
		}
		if shown += err.Error(); strings.ContainsAny(shown, "\x1b\a\u009b") {
			t.Errorf("%s: shown as %q", name, shown)
		}
	}
}

// A tag that cannot be sent back must not spoil the next attempt.
func TestStrangeTag(t *testing.T) {
	for _, tag := range []string{"W/\"weak\"", "\"\x80\"", `"` + strings.Repeat("long", 1000) + `"`, "unquoted"} {
		data := someBytes(5000)
		s := &server{data: data, tag: tag}
		s.cutAfter.Store(2000)
		f, part := start(t, s, len(data))
		if err := quick().To(t.Context(), f, part); err != nil {
			t.Errorf("%.20q: %v", tag, err)
		}
		if saved, err := os.ReadFile(tagFile(part)); err == nil {
			t.Errorf("%.20q was kept as %.20q", tag, saved)
		}
		arrived(t, part, data)
	}
}
