package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
)

// TestLimits: requests beyond a limit are refused, and those before them stay. In a
// task-incremental learner each task has outputs of its own, which count.
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
			{"/tasks", `{"classes": [0, 1, 2, 3]}`, 400}, {"/tasks", `{"classes": [0, 1, 2]}`, 200},
			{"/tasks", `{"classes": [1, 2]}`, 200},
		}},
		{Options{MaxClasses: 3}, "task",
			requests{{"/tasks", `{"classes": [0, 1, 2]}`, 200}, {"/tasks", `{"classes": [1, 2]}`, 400}}},
		{Options{MaxTasks: 2}, "class", requests{
			{"/tasks", `{"classes": [0]}`, 200}, {"/tasks", `{"classes": [0]}`, 200}, {"/tasks", `{"classes": [0]}`, 400},
			{"/detach", `{"task": 1}`, 200}, {"/reattach", `{"task": 1}`, 200}, {"/tasks", `{"classes": [0]}`, 400},
			{"/detach", `{"task": 2}`, 200}, {"/tasks", `{"classes": [0]}`, 200}, {"/reattach", `{"task": 2}`, 400},
		}},
		{Options{MaxKept: 2}, "class", requests{ // also those that have ended
			{"/tasks", `{"classes": [0]}`, 200}, {"/detach", `{"task": 1}`, 200}, {"/tasks", `{"classes": [0]}`, 200},
			{"/detach", `{"task": 2}`, 200},
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

// TestMaxBuffered: requests whose samples take more memory than they may are refused, and give it
// back.
func TestMaxBuffered(t *testing.T) {
	s := opened(t, "")
	s.room = newRoom(10_000)
	post(s.Handler(), context.Background(), "/tasks", strings.NewReader(`{"classes": [0, 1]}`))
	const zeros = "[0,0,0,0,0,0,0,0]"
	many := "[" + strings.Repeat(zeros+",", 999) + zeros + "]"
	for _, path := range []string{"/predict", "/learn"} {
		if w := post(s.Handler(), context.Background(), path, strings.NewReader(`{"x": `+many+`}`)); w.Code != 503 ||
			!strings.Contains(w.Body.String(), "Options.MaxBuffered") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := post(s.Handler(), context.Background(), "/predict", strings.NewReader(`{"x": [`+zeros+`]}`)); w.Code != 200 {
		t.Errorf("a small request: %d %s", w.Code, w.Body)
	}
	if !s.room.empty(10_000) {
		t.Error("bytes are taken when no request is there")
	}
}

// empty says whether no request takes any of a room of so many bytes.
func (r *room) empty(most int64) bool {
	long, short := most-most/4, most/4
	if !r.long.TryAcquire(long) {
		return false
	}
	defer r.long.Release(long)
	ok := r.short.TryAcquire(short)
	if ok {
		r.short.Release(short)
	}
	return ok
}

// TestLongList: tasks with long names, which JSON makes longer, are refused before their list is
// too long to be answered, and others still begin.
func TestLongList(t *testing.T) {
	for name, letter := range map[string]string{"plain": "a", "escaped": "<", "two bytes": "é", "control": "\x01"} {
		t.Run(name, func(t *testing.T) {
			s := openedAs(t, Options{MaxBuffered: 64 << 10}, func(*pcl.Options) {})
			server := httptest.NewServer(s.Handler())
			defer server.Close()
			c := client{t, server.URL}
			long := strings.Repeat(letter, maxName/len(letter))
			var refused error
			for n := 0; refused == nil && n < 200; n++ {
				r := request{Name: long, Classes: []int{0, 1}, Names: []string{long, long}}
				refused = c.try("/tasks", r, new(any))
				for _, task := range s.learner.Tasks() {
					if !task.Ended {
						must.Do(t, s.learner.Detach(task.ID, false))
					}
				}
			}
			if refused == nil || !strings.Contains(refused.Error(), "the list of tasks") {
				t.Errorf("error %v", refused)
			}
			kept := len(c.tasks())
			if c.begin(0, 1); kept == 0 || len(c.tasks()) != kept+1 {
				t.Errorf("%d tasks, then %d", kept, len(c.tasks()))
			}
		})
	}
}

// TestSkippedBatches: batches whose samples were taken and could not be trained on are counted, and
// told in the log.
func TestSkippedBatches(t *testing.T) {
	var said lines
	s := openedAs(t, Options{Log: slog.New(slog.NewTextHandler(&said, nil))}, func(o *pcl.Options) {
		o.Model = mlp(t, 4, 16)
	})
	c, stop := serving(t, s)
	id := c.begin(0)
	c.raw("/learn",
		`{"task": 1, "x": [[3e38,3e38,3e38,3e38,3e38,3e38,3e38,3e38], [3e38,3e38,3e38,3e38,3e38,3e38,3e38,3e38]], "classes": [0, 0]}`)
	eventually(t, "the batch is counted", func() bool { return c.tasks()[0].Skipped == 1 })
	stop()
	if id != 1 || !strings.Contains(said.String(), "a batch could not be trained on") ||
		!strings.Contains(said.String(), "task=1") {
		t.Errorf("task %d; the log says %q", id, said.String())
	}
}

// TestSpoiltSamples: a client's samples of huge values, which enter the memory, cost that client's
// task, and nobody else's: the others are trained on, new and stored, and GET /tasks says how many
// were left out.
func TestSpoiltSamples(t *testing.T) {
	var said lines
	s := openedAs(t, Options{Log: slog.New(slog.NewTextHandler(&said, nil))}, func(o *pcl.Options) {
		o.Model = mlp(t, 4, 16)
	})
	c, stop := serving(t, s)
	hostile, other := c.begin(0, 1), c.begin(2, 3)
	const huge = "[1e30,-1e30,1e30,-1e30,1e30,-1e30,1e30,-1e30]"
	for i := range 20 {
		c.learn(other, 32, 2, 3)
		if i < 10 {
			c.raw("/learn", fmt.Sprintf(`{"task": %d, "x": [%s, %s, [1,0,0,0,0,0,0,0]], "classes": [0, 1, 0]}`, hostile,
				huge, huge))
		} else if i == 10 {
			eventually(t, "the samples are not trained on", func() bool { return s.waiting(hostile) == 0 })
			c.raw("/detach", `{"task": 1}`)
		}
	}
	c.knows(2, 3)
	eventually(t, "all is trained on", func() bool { return s.waiting(other) == 0 })
	all := c.tasks()
	stop()
	if all[0].Spoilt == 0 || all[1].Spoilt != 0 || all[1].Skipped != 0 || s.skipped.of(0) != 0 ||
		!strings.Contains(said.String(), "samples, new or stored, were left out") ||
		!strings.Contains(said.String(), "task=1") {
		t.Errorf("the tasks are %+v, %d batches of the memory were left out; the log says %s", all, s.skipped.of(0),
			said.String())
	}
}

// TestStalledClient: a client that sends half a request does not keep the service from ending, and
// from saving.
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

// TestServerOfOnesOwn: beside a server of the program's own, Run trains; it does not wait for who
// waits for room there, and what comes after the last save is refused.
func TestServerOfOnesOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "service.pcl")
	s := opened(t, file)
	s.options.MaxWaiting = 1
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
		answer <- c.raw("/learn", `{"task": 1, "x": [`+strings.Repeat("[0,0,0,0,0,0,0,0],", 7)+
			`[0,0,0,0,0,0,0,0]], "classes": [0,1,0,1,0,1,0,1]}`)
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

// announcing are requests that announce large bodies and send the beginning of one.
func announcing(t *testing.T, addr string, n int, begin string) (all []net.Conn) {
	t.Helper()
	for range n {
		conn := must.Get(net.Dial("tcp", addr))(t)
		t.Cleanup(func() { conn.Close() })
		fmt.Fprintf(conn, "POST /learn HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", maxBody, begin)
		all = append(all, conn)
	}
	return all
}

// TestAnnounced: what clients announce takes no room; neither do bodies that arrived keep small
// requests out. Clients that stall are told so, and let go.
func TestAnnounced(t *testing.T) {
	for name, c := range map[string]struct {
		conns int
		begin string
		want  int // of a long request meanwhile
	}{
		"nothing was sent": {50, "", 200}, "one byte was sent": {50, "{", 200},
		"all room is taken": {4, strings.Repeat(" ", 300<<10), 503},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(t, "")
			s.room, s.stall = newRoom(1<<20), 300*time.Millisecond
			server := httptest.NewServer(s.Handler())
			defer server.Close()
			client := client{t, server.URL}
			client.begin(0, 1)
			held := announcing(t, server.Listener.Addr().String(), c.conns, c.begin)
			const long = `{"x": [[0,0,0,0,0,0,0,0]]`
			if c.want != 200 {
				eventually(t, "there is room", func() bool {
					return strings.HasPrefix(client.raw("/predict", long+strings.Repeat(" ", 400<<10)+"}"), "503 ")
				})
			} else if got := client.raw("/predict", long+strings.Repeat(" ", 400<<10)+"}"); !strings.HasPrefix(got, "200 ") {
				t.Errorf("a long request meanwhile: %.200s", got)
			}
			client.predict(0, 1)
			client.tasks()
			for _, conn := range held {
				if answer := must.Get(io.ReadAll(conn))(t); !strings.HasPrefix(string(answer), "HTTP/1.1 408 ") &&
					!strings.HasPrefix(string(answer), "HTTP/1.1 503 ") {
					t.Fatalf("who stalls is told %q", answer)
				}
			}
			eventually(t, "the bodies are kept", func() bool { return s.room.empty(1 << 20) })
		})
	}
}

// TestSlowButSteady: a client that goes on sending is not taken for one that stalls.
func TestSlowButSteady(t *testing.T) {
	s := opened(t, "")
	s.stall = 200 * time.Millisecond
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	conn := must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
	defer conn.Close()
	body := `{"classes": [0]` + strings.Repeat(" ", 8*pace/10) + "}"
	fmt.Fprintf(conn, "POST /tasks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %d\r\n\r\n",
		len(body))
	for part := range slices.Chunk([]byte(body), pace/10) {
		must.Get(conn.Write(part))(t)
		time.Sleep(50 * time.Millisecond)
	}
	if answer := must.Get(io.ReadAll(conn))(t); !strings.HasPrefix(string(answer), "HTTP/1.1 200 ") {
		t.Errorf("it is told %q", answer)
	}
}

// TestUnread: an answer that its client does not read is dropped, and takes no room any more.
func TestUnread(t *testing.T) {
	s := opened(t, "")
	s.stall = 100 * time.Millisecond
	most := s.options.MaxBuffered
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	client{t, server.URL}.begin(0, 1)
	conn := must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
	defer conn.Close()
	must.Do(t, conn.(*net.TCPConn).SetReadBuffer(4096))
	body := `{"x": [` + strings.Repeat("[0,0,0,0,0,0,0,0],", 100_000) + "[0,0,0,0,0,0,0,0]]}"
	fmt.Fprintf(conn, "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	eventually(t, "no answer is made", func() bool { return !s.room.empty(int64(most)) })
	eventually(t, "the answer is kept", func() bool { return s.room.empty(int64(most)) })
}

// elsewhere is a listener at another address than it says.
type elsewhere struct {
	net.Listener
	at string
}

func (l elsewhere) Addr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(l.at))
}

// TestOpenToOthers: a service that other machines can reach says in its log, once, that it asks
// nobody who they are, unless it does.
func TestOpenToOthers(t *testing.T) {
	for at, want := range map[string]int{"127.0.0.1:80": 0, "127.9.9.9:80": 0, "[::1]:80": 0, "0.0.0.0:80": 1,
		"[::]:80": 1, "192.168.1.2:80": 1, "[fe80::1%lo]:80": 1} {
		var said lines
		s := openedAs(t, Options{Log: slog.New(slog.NewTextHandler(&said, nil))}, func(*pcl.Options) {})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		must.Do(t, s.Run(ctx, elsewhere{must.Get(net.Listen("tcp", "127.0.0.1:0"))(t), at}))
		if got := said.String(); strings.Count(got, "\n") != want ||
			want == 1 && !strings.Contains(got, "anybody who does may train") {
			t.Errorf("at %s the log says %q", at, got)
		}
	}
	var said lines
	o := Options{Log: slog.New(slog.NewTextHandler(&said, nil)), Tokens: tokens()}
	openedAs(t, o, func(*pcl.Options) {}).warn(elsewhere{at: "0.0.0.0:80"}.Addr())
	if got := said.String(); got != "" {
		t.Errorf("with tokens the log says %q", got)
	}
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
