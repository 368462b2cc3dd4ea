package serve

import (
	"context"
	"fmt"
	"log"
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
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// TestUnusable: no service can be made of a learner with a task that requests could not reach.
func TestUnusable(t *testing.T) {
	learner := opened(t, "").learner
	must.Do(t, second(learner.Attach(pcl.Task{Classes: []int{0}, Stream: must.Get(data.NewPush(8, 16, []int{0}))(t)})))
	must.Do(t, learner.Pause(1))
	if _, err := New(learner, Options{}); err == nil {
		t.Error("a task that has not ended: no error")
	}
}

// TestLimits: requests beyond a limit are refused, and those before them stay. In a task-incremental learner each task has
// outputs of its own, which count.
func TestLimits(t *testing.T) {
	type requests []struct {
		path, body string
		want       int
	}
	for _, c := range []struct {
		limit     Options
		increment string
		requests
	}{
		{Options{MaxClasses: 3}, "class", requests{
			{"/tasks", `{"classes": [0, 1, 2, 3]}`, 400}, {"/tasks", `{"classes": [0, 1, 2]}`, 200}, {"/tasks", `{"classes": [1, 2]}`, 200},
		}},
		{Options{MaxClasses: 3}, "task", requests{{"/tasks", `{"classes": [0, 1, 2]}`, 200}, {"/tasks", `{"classes": [1, 2]}`, 400}}},
		{Options{MaxTasks: 2}, "class", requests{
			{"/tasks", `{"classes": [0]}`, 200}, {"/tasks", `{"classes": [0]}`, 200}, {"/tasks", `{"classes": [0]}`, 400},
			{"/detach", `{"task": 1}`, 200}, {"/reattach", `{"task": 1}`, 200}, {"/tasks", `{"classes": [0]}`, 400},
			{"/detach", `{"task": 2}`, 200}, {"/tasks", `{"classes": [0]}`, 200}, {"/reattach", `{"task": 2}`, 400},
		}},
		{Options{MaxKept: 2}, "class", requests{ // also those that have ended
			{"/tasks", `{"classes": [0]}`, 200}, {"/detach", `{"task": 1}`, 200}, {"/tasks", `{"classes": [0]}`, 200}, {"/detach", `{"task": 2}`, 200},
			{"/tasks", `{"classes": [0]}`, 400}, {"/reattach", `{"task": 1}`, 200},
		}},
	} {
		s := openedAs(t, c.limit, func(o *pcl.Options) { o.Increment, o.Model = c.increment, mlp(t, 8, 16) })
		for _, q := range c.requests {
			if w := post(s.Handler(), t.Context(), q.path, strings.NewReader(q.body)); w.Code != q.want {
				t.Errorf("%+v: %s %s: %d %s, want %d", c.limit, q.path, q.body, w.Code, w.Body, q.want)
			}
		}
	}
}

// TestMaxBuffered: requests whose samples take more memory than they may are refused, and give it back.
func TestMaxBuffered(t *testing.T) {
	s := opened(t, "")
	s.memory = semaphore.NewWeighted(10_000)
	post(s.Handler(), context.Background(), "/tasks", strings.NewReader(`{"classes": [0, 1]}`))
	const zeros = "[0,0,0,0,0,0,0,0]"
	many := "[" + strings.Repeat(zeros+",", 999) + zeros + "]"
	for _, path := range []string{"/predict", "/learn"} {
		if w := post(s.Handler(), context.Background(), path, strings.NewReader(`{"x": `+many+`}`)); w.Code != 503 || !strings.Contains(w.Body.String(), "Options.MaxBuffered") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := post(s.Handler(), context.Background(), "/predict", strings.NewReader(`{"x": [`+zeros+`]}`)); w.Code != 200 {
		t.Errorf("a small request: %d %s", w.Code, w.Body)
	}
	if !s.memory.TryAcquire(10_000) {
		t.Error("bytes are taken when no request is there")
	}
}

// TestSkippedBatches: batches whose samples were taken and could not be trained on are counted, and told in the log.
func TestSkippedBatches(t *testing.T) {
	var said lines
	s := openedAs(t, Options{ErrorLog: log.New(&said, "", 0)}, func(o *pcl.Options) { o.Model = mlp(t, 4, 16) })
	c, stop := serving(t, s)
	id := c.begin(0)
	c.raw("/learn", `{"task": 1, "x": [[3e38,3e38,3e38,3e38,3e38,3e38,3e38,3e38], [3e38,3e38,3e38,3e38,3e38,3e38,3e38,3e38]], "classes": [0, 0]}`)
	eventually(t, "the batch is counted", func() bool { return c.tasks()[0].Skipped == 1 })
	stop()
	if id != 1 || !strings.Contains(said.String(), "a batch of task 1 could not be trained on") {
		t.Errorf("task %d; the log says %q", id, said.String())
	}
}

// TestSpoiltSamples: a client's samples of huge values, which enter the memory, cost that client's task, and nobody else's: the others
// are trained on, new and stored, and GET /tasks says how many were left out.
func TestSpoiltSamples(t *testing.T) {
	var said lines
	s := openedAs(t, Options{ErrorLog: log.New(&said, "", 0)}, func(o *pcl.Options) { o.Model = mlp(t, 4, 16) })
	c, stop := serving(t, s)
	hostile, other := c.begin(0, 1), c.begin(2, 3)
	const huge = "[1e30,-1e30,1e30,-1e30,1e30,-1e30,1e30,-1e30]"
	for i := range 20 {
		c.learn(other, 32, 2, 3)
		if i < 10 {
			c.raw("/learn", fmt.Sprintf(`{"task": %d, "x": [%s, %s, [1,0,0,0,0,0,0,0]], "classes": [0, 1, 0]}`, hostile, huge, huge))
		} else if i == 10 {
			eventually(t, "the samples are not trained on", func() bool { return s.waiting(hostile) == 0 })
			c.raw("/detach", `{"task": 1}`)
		}
	}
	c.knows(2, 3)
	eventually(t, "all is trained on", func() bool { return s.waiting(other) == 0 })
	all := c.tasks()
	stop()
	if all[0].Spoilt == 0 || all[1].Spoilt != 0 || all[1].Skipped != 0 || s.skipped.of(0) != 0 || !strings.Contains(said.String(), "samples of task 1, new or stored, were left out") {
		t.Errorf("the tasks are %+v, %d batches of the memory were left out; the log says %s", all, s.skipped.of(0), said.String())
	}
}

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
	eventually(t, "nothing waits", func() bool { return s.waiting(1) > 0 })
	cancel()
	must.Do(t, <-ended)
	if got := <-answer; !strings.HasPrefix(got, "503 ") {
		t.Errorf("who waited for room is answered %s", got)
	}
	if got := c.raw("/tasks", `{"classes": [2, 3]}`); !strings.HasPrefix(got, "503 ") {
		t.Errorf("a task after the end: %s", got)
	}
	must.Do(t, second(os.Stat(file)))
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
