package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestStalledClient: a client that sends half a request does not keep the service from ending, and from saving.
func TestStalledClient(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	service := opened(t, file)
	service.grace = 50 * time.Millisecond
	c, stop := serving(t, service)
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(c.url, "http://")))(t)
	defer conn.Close()
	fmt.Fprintf(conn, "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
	c.begin(0, 1) // so that the first request has arrived
	stop()
	must.Do(t, second(os.Stat(file)))
}

// TestClientThatDoesNotRead: an answer that nobody reads does not keep its connection, nor the memory that it takes.
func TestClientThatDoesNotRead(t *testing.T) {
	s := opened(t, "")
	s.patience = 200 * time.Millisecond
	closed := make(chan string, 10)
	server := httptest.NewUnstartedServer(s.Handler())
	server.Config.ConnState = func(c net.Conn, now http.ConnState) {
		if now == http.StateClosed {
			closed <- c.RemoteAddr().String()
		}
	}
	server.Start()
	defer server.Close()
	client{t, server.URL}.begin(0, 1)
	conn := must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
	defer conn.Close()
	const n = 200_000
	body := `{"x": [` + strings.Repeat("[0,0,0,0,0,0,0,0],", n-1) + `[0,0,0,0,0,0,0,0]]}`
	fmt.Fprintf(conn, "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	late := time.After(time.Minute)
	for {
		select {
		case which := <-closed:
			if which == conn.LocalAddr().String() {
				return
			}
		case <-late:
			t.Fatal("the connection is kept")
		}
	}
}

// TestLaterRequests: the time for an answer is over with it, also where the next request comes on the same connection.
func TestLaterRequests(t *testing.T) {
	c, s := handled(t)
	s.patience = 50 * time.Millisecond
	for range 3 {
		c.raw("/tasks", "")
		time.Sleep(2 * s.patience)
		if got := c.raw("/nowhere", ""); !strings.HasPrefix(got, "404 ") {
			t.Errorf("answer %s", got)
		}
	}
}

// TestServerOfOnesOwn: beside a server of the program's own, Run trains; it does not wait for who waits for room there, and
// what comes after the last save is refused.
func TestServerOfOnesOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	s := opened(t, file)
	s.options.Waiting = 1
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	ended, answer := make(chan error, 1), make(chan string, 1)
	go func() { ended <- s.Run(ctx, nil) }()
	c := client{t, server.URL}
	c.begin(0, 1)
	c.learn(1, 10, 0, 1) // trains
	must.Do(t, s.learner.Pause(1))
	go func() {
		answer <- c.raw("/learn", `{"task": 1, "x": [`+strings.Repeat("[0,0,0,0,0,0,0,0],", 7)+`[0,0,0,0,0,0,0,0]], "classes": [0,1,0,1,0,1,0,1]}`)
	}()
	for stream, _ := s.stream(1); stream.Len() == 0; {
		time.Sleep(time.Millisecond)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the service does not end")
	}
	if got := <-answer; !strings.HasPrefix(got, "503 ") {
		t.Errorf("who waited for room is answered %s", got)
	}
	if got := c.raw("/tasks", `{"classes": [2, 3]}`); !strings.HasPrefix(got, "503 ") {
		t.Errorf("a task after the end: %s", got)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// TestStallsAfterRefusal: a client that is refused, or too slow, and then sends no more is answered, and does not keep its
// connection.
func TestStallsAfterRefusal(t *testing.T) {
	s := opened(t, "")
	s.stall = 200 * time.Millisecond
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	for length, want := range map[int]string{maxBody + 1: "413", 100_000: "408"} {
		conn := must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
		defer conn.Close()
		fmt.Fprintf(conn, "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n{", length)
		conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		answer, err := io.ReadAll(conn) // until the server closes the connection
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 "+want) {
			t.Errorf("of %d bytes the answer is %q (%v), want %s", length, answer, err, want)
		}
	}
}

// TestStalledBodies: bodies that do not end take no more memory than they may, small requests are served meanwhile, and the
// stalled ones are given up.
func TestStalledBodies(t *testing.T) {
	s := opened(t, "")
	s.options.MaxBuffered, s.stall = 4<<20, 2*time.Second
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	c := client{t, server.URL}
	c.begin(0, 1)
	for range 20 {
		conn := must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
		defer conn.Close()
		fmt.Fprintf(conn, "POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000000\r\n\r\n{%s", strings.Repeat(" ", 500_000))
	}
	eventually(t, "the bodies are not read", func() bool { return s.buffered.Load() > 1<<20 })
	if n := s.buffered.Load(); n > int64(s.options.MaxBuffered/2) {
		t.Errorf("%d bytes are taken", n)
	}
	if c.predict(0, 1); len(s.working) != 0 {
		t.Errorf("%d slots are held by requests that have not arrived", len(s.working))
	}
	eventually(t, "the bodies are kept", func() bool { return s.buffered.Load() == 0 })
}

// TestMaxConnections: no more connections are served at once than may.
func TestMaxConnections(t *testing.T) {
	s := opened(t, "")
	s.options.MaxConnections = 1
	c, stop := serving(t, s)
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(c.url, "http://")))(t)
	time.AfterFunc(200*time.Millisecond, func() { conn.Close() })
	began := time.Now()
	if c.tasks(); time.Since(began) < 100*time.Millisecond {
		t.Error("two connections are served at once")
	}
	http.DefaultClient.CloseIdleConnections()
	stop()
}
