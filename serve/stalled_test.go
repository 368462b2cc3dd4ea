package serve

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

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
	for s.waiting(1) == 0 {
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

// TestStalledBodies: bodies that do not end take no more memory than they may, and small requests are served meanwhile.
func TestStalledBodies(t *testing.T) {
	s := opened(t, "")
	s.memory = semaphore.NewWeighted(100 << 20)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	c := client{t, server.URL}
	c.begin(0, 1)
	var conns []net.Conn
	for range 20 {
		conn := must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
		conns = append(conns, conn)
		fmt.Fprintf(conn, "POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000000\r\n\r\n{")
	}
	free := func() bool {
		ok := s.memory.TryAcquire(100 << 20)
		if ok {
			s.memory.Release(100 << 20)
		}
		return ok
	}
	eventually(t, "no body is read", func() bool { return !free() })
	c.predict(0, 1)
	for _, conn := range conns {
		conn.Close()
	}
	eventually(t, "the bodies are kept", free)
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
