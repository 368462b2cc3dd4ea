package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// raw sends a text, and returns the status and the text of the answer.
func (c client) raw(path, body string) string {
	c.t.Helper()
	r, err := http.Post(c.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", r.StatusCode, text)
}

// handled returns a client of a service that does not train.
func handled(t *testing.T) (client, *Service) {
	t.Helper()
	s := opened(t, "")
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return client{t, server.URL}, s
}

// TestStrict: what is not understood is refused, and nothing stands for something else.
func TestStrict(t *testing.T) {
	c, _ := handled(t)
	c.begin(0, 1)
	const zeros = `[[0,0,0,0,0,0,0,0]]`
	for _, q := range [][2]string{
		{"/tasks", `{"classes": [2], "klasses": [3]}`}, {"/tasks", `{"classes": [2]} more`}, {"/tasks", `{"classes": [2]} {}`},
		{"/tasks", `{"classes": [2], "x": []}`}, {"/tasks", `null`}, {"/tasks", `{"classes": [2]`}, {"/tasks", ``}, {"/tasks", `[]`},
		{"/tasks", `{` + strings.Repeat(`"a": 1, `, maxColons) + `"classes": [2]}`},
		{"/learn", `{"task": 1, "classes": [` + strings.Repeat("1,", maxField/2) + `1]}`},
		{"/learn", `{"task": 1, "x": [[null,0,0,0,0,0,0,0]], "classes": [0]}`}, {"/learn", `{"task": 1, "x": [null], "classes": [0]}`},
		{"/learn", `{"task": 1, "x": null, "classes": [0]}`}, {"/learn", `{"task": 1, "x": ` + zeros + `, "classes": [null]}`},
		{"/learn", `{"task": null, "x": ` + zeros + `, "classes": [0]}`}, {"/learn", `{"x": ` + zeros + `, "classes": [0]}`},
		{"/predict", `{"X": ` + zeros + `}`}, {"/predict", `{"x": ` + zeros + `, "classes": [0]}`}, {"/predict", `{"x": ` + zeros + `, "task": null}`},
		{"/predict", `{"x": ` + zeros + `, "task": 7}`}, {"/predict", `{"x": [[1e39,0,0,0,0,0,0,0]]}`}, {"/predict", `{"x": []}`}, {"/predict", `{}`},
		{"/end", `{"id": 1}`}, {"/pause", `{}`}, {"/pause", `{"task": 2}`}, {"/resume", `{"task": -1}`}, {"/resume", `{"task": 1, "keep": true}`},
		{"/detach", `{"task": 3}`}, {"/detach", `{"task": 1, "keep": "no"}`}, {"/reattach", `{"task": 1}`}, {"/reattach", `{"task": 7}`},
	} {
		if got := c.raw(q[0], q[1]); !strings.HasPrefix(got, "400 ") {
			t.Errorf("%s %.80s: %.200s", q[0], q[1], got)
		}
	}
	if got := c.raw("/learn", `{"task": 1, "x": `+zeros+`, "classes": [0]}`); got != "200 {\"taken\":1}\n" {
		t.Error(got)
	}
	c.raw("/detach", `{"task": 1}`)
	for _, path := range []string{"/pause", "/resume", "/detach", "/end", "/learn"} {
		if got := c.raw(path, `{"task": 1}`); !strings.HasPrefix(got, "400 ") || !strings.Contains(got, "ended") {
			t.Errorf("%s of a task that has ended: %s", path, got)
		}
	}
}

// counted counts the bytes that were read.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (n int, err error) {
	n, err = c.Reader.Read(p)
	c.n += n
	return n, err
}

// post lets a handler answer a request that has not arrived over a network.
func post(h http.Handler, ctx context.Context, path string, body io.Reader) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", path, body))
	return w
}

// TestFirstWrongRow: a request ends at the first wrong sample, before memory is taken for the values of the others.
func TestFirstWrongRow(t *testing.T) {
	s := opened(t, "")
	for _, row := range []string{"[],", "[" + strings.Repeat("0,", 8) + "0],"} {
		before := mallocs()
		w := post(s.Handler(), context.Background(), "/predict", strings.NewReader(`{"x": [`+strings.Repeat(row, 1<<18)+`[]]}`))
		if n := mallocs() - before; w.Code != 400 || !strings.Contains(w.Body.String(), "sample 0 has") || n > 10_000 {
			t.Errorf("%d allocations for the answer %d %s", n, w.Code, w.Body)
		}
	}
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// TestStatus: who reads the status knows whose fault it was, and whether to try again.
func TestStatus(t *testing.T) {
	s := opened(t, "")
	if w := post(s.Handler(), context.Background(), "/tasks", io.MultiReader(strings.NewReader(`{"name": "`+strings.Repeat("a", maxSmall)))); w.Code != 413 {
		t.Errorf("too large: %d %s", w.Code, w.Body)
	}
	if w := post(s.Handler(), context.Background(), "/tasks", strings.NewReader(`{"classes": [0, 1]}`)); w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	s.streams.Range(func(_, stream any) bool { stream.(interface{ End() }).End(); return true })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := post(s.Handler(), ctx, "/learn", strings.NewReader(`{"task": 1, "x": [[0,0,0,0,0,0,0,0]], "classes": [0]}`))
	if w.Code != 503 || !strings.Contains(w.Body.String(), `"taken":0`) {
		t.Errorf("the service ends: %d %s", w.Code, w.Body)
	}
	for want, err := range map[int]error{500: internalError{io.ErrShortWrite}, 503: fmt.Errorf("a: %w", pcl.ErrClosed), 400: io.ErrShortWrite} {
		if got := statusOf(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}

// TestSlowRequest: who sends a request too slowly is told so.
func TestSlowRequest(t *testing.T) {
	s := opened(t, "")
	w := post(s.Handler(), context.Background(), "/predict", io.MultiReader(strings.NewReader(`{"x": [[0,`), iotest.ErrReader(os.ErrDeadlineExceeded)))
	if w.Code != 408 || !strings.Contains(w.Body.String(), "did not arrive in time") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestEndedTasks: the streams of tasks that have ended are dropped, and who asks for one is told that it has ended.
func TestEndedTasks(t *testing.T) {
	s := opened(t, "")
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	ctx, cancel := context.WithCancel(context.Background())
	trained := make(chan error)
	go func() { trained <- s.train(ctx) }()
	defer func() {
		cancel()
		if err := <-trained; err != nil {
			t.Error(err)
		}
	}()
	c := client{t, server.URL}
	id := c.begin(0, 1)
	c.raw("/end", `{"task": 1}`)
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, there := s.streams.Load(id); !there {
			break
		}
		if time.Since(began) > 20*time.Second {
			t.Fatal("the stream is still there")
		}
	}
	if got := c.raw("/learn", `{"task": 1, "x": [[0,0,0,0,0,0,0,0]], "classes": [0]}`); !strings.Contains(got, "task 1 has ended") {
		t.Error(got)
	}
}

// TestTaskIncremental: which task a sample is of is said by "task".
func TestTaskIncremental(t *testing.T) {
	s := openedWith(t, "", "emgd-gmc", scenario.TaskIncremental, []int{16}, 8)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	c := client{t, server.URL}
	c.begin(0, 1)
	c.begin(0, 1, 2)
	if got := c.raw("/predict", `{"task": 2, "x": [[1,0,0,0,0,0,0,0]]}`); !strings.HasPrefix(got, "200 ") || !strings.Contains(got, `"classes":[0,1,2]`) {
		t.Error(got)
	}
	for _, id := range []int{0, 3, -1} {
		if got := c.raw("/predict", fmt.Sprintf(`{"task": %d, "x": [[1,0,0,0,0,0,0,0]]}`, id)); !strings.Contains(got, "there is no task") {
			t.Error(got)
		}
	}
}

// TestPagesOfOthers: a web page of another site cannot train the service of whoever looks at it; programs, which do not say
// where they come from, can.
func TestPagesOfOthers(t *testing.T) {
	s := opened(t, "")
	for _, c := range []struct {
		key, value string
		want       int
	}{
		{"Sec-Fetch-Site", "cross-site", 403}, {"Origin", "https://example.org", 403},
		{"Sec-Fetch-Site", "same-origin", 200}, {"User-Agent", "curl", 200},
	} {
		w, q := httptest.NewRecorder(), httptest.NewRequest("POST", "/tasks", strings.NewReader(`{"classes": [0, 1]}`))
		q.Header.Set(c.key, c.value)
		if s.Handler().ServeHTTP(w, q); w.Code != c.want {
			t.Errorf("%s %s: %d %s, want %d", c.key, c.value, w.Code, w.Body, c.want)
		}
	}
}

// TestNetworksOfOthers: nor can such a page have a network written, which costs work.
func TestNetworksOfOthers(t *testing.T) {
	s := opened(t, "")
	for site, want := range map[string]int{"cross-site": 403, "same-site": 403, "same-origin": 200, "none": 200, "": 200} {
		w, q := httptest.NewRecorder(), httptest.NewRequest("GET", "/network", nil)
		q.Header.Set("Sec-Fetch-Site", site)
		if s.Handler().ServeHTTP(w, q); w.Code != want {
			t.Errorf("%q: %d, want %d", site, w.Code, want)
		}
	}
}

// TestHosts: a page that lets its own name lead to the service is refused by that name.
func TestHosts(t *testing.T) {
	c, s := handled(t) // at a loopback address
	get := func(host string) int {
		q, err := http.NewRequest("GET", c.url+"/tasks", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Host = host
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		return r.StatusCode
	}
	for host, want := range map[string]int{"": 200, "localhost:80": 200, "[::1]:80": 200, "[::1]": 200, "10.0.0.1": 200, "evil.example:80": 403, "learner.example": 403} {
		if got := get(host); got != want {
			t.Errorf("%q: %d, want %d", host, got, want)
		}
	}
	s.options.Hosts = []string{"learner.example"}
	if got := get("Learner.example:80"); got != 200 {
		t.Errorf("a name of the service: %d", got)
	}
	w, q := httptest.NewRecorder(), httptest.NewRequest("GET", "/tasks", nil)
	q.Host = "evil.example"
	if s.Handler().ServeHTTP(w, q); w.Code != 403 {
		t.Errorf("another name, where names are given, from elsewhere: %d", w.Code)
	}
}
