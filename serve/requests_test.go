package serve

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
)

// raw sends a text, and returns the status and the text of the answer.
func (c client) raw(path, body string) string {
	c.t.Helper()
	r := must.Get(http.Post(c.url+path, "application/json", strings.NewReader(body)))(c.t)
	defer r.Body.Close()
	return fmt.Sprintf("%d %s", r.StatusCode, must.Get(io.ReadAll(r.Body))(c.t))
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
		{"/tasks", `{"classes": [2], "klasses": [3]}`}, {"/tasks", `{"classes": [2]} more`},
		{"/tasks", `{"classes": [2]} {}`},
		{"/tasks", `{"classes": [2], "x": []}`}, {"/tasks", `null`}, {"/tasks", `{"classes": [2]`}, {"/tasks", ``},
		{"/tasks", `[]`},
		{"/learn", `{"task": 1, "x": [[null,0,0,0,0,0,0,0]], "classes": [0]}`},
		{"/learn", `{"task": 1, "x": [null], "classes": [0]}`},
		{"/learn", `{"task": 1, "x": null, "classes": [0]}`},
		{"/learn", `{"task": 1, "x": ` + zeros + `, "classes": [null]}`},
		{"/learn", `{"task": null, "x": ` + zeros + `, "classes": [0]}`}, {"/learn", `{"x": ` + zeros + `, "classes": [0]}`},
		{"/predict", `{"x": ` + zeros + `, "classes": [0]}`},
		{"/predict", `{"x": ` + zeros + `, "task": 7}`}, {"/predict", `{"x": [[1e39,0,0,0,0,0,0,0]]}`},
		{"/predict", `{"x": []}`}, {"/predict", `{}`},
		{"/end", `{"id": 1}`}, {"/pause", `{}`}, {"/pause", `{"task": 2}`}, {"/resume", `{"task": -1}`},
		{"/resume", `{"task": 1, "keep": true}`},
		{"/tasks", `{}`}, {"/tasks", `{"classes": [1, 2], "names": ["one"]}`}, {"/tasks", `{"classes": [1, 1]}`},
		{"/tasks", `{"classes": [0, 1, 2, 3, 4]}`},
		{"/learn", `{"task": 7, "x": ` + zeros + `, "classes": [0]}`},
		{"/learn", `{"task": 1, "x": ` + zeros + `, "classes": [2]}`},
		{"/learn", `{"task": 1, "x": [[0,0,0,0]], "classes": [0]}`}, {"/predict", `{"x": [[0,0,0,0]]}`},
		{"/end", `{"task": 7}`},
		{"/predict", `{"x": [[0,0,0,0,0,0,0], [0,0,0,0,0,0,0,0,0]]}`},
		{"/detach", `{"task": 3}`}, {"/detach", `{"task": 1, "keep": "no"}`}, {"/reattach", `{"task": 1}`},
		{"/reattach", `{"task": 7}`},
	} {
		if got := c.raw(q[0], q[1]); !strings.HasPrefix(got, "400 ") {
			t.Errorf("%s %.80s: %.200s", q[0], q[1], got)
		}
	}
	if got := c.raw("/learn", `{"task": 1, "x": `+zeros+`, "classes": [0]}`); got != "200 {\"taken\":1,\"saved\":0}\n" {
		t.Error(got)
	}
	c.raw("/detach", `{"task": 1}`)
	for _, path := range []string{"/pause", "/resume", "/detach", "/end", "/learn"} {
		if got := c.raw(path, `{"task": 1}`); !strings.HasPrefix(got, "400 ") || !strings.Contains(got, "ended") {
			t.Errorf("%s of a task that has ended: %s", path, got)
		}
	}
}

// TestOneSpelling: what readers may take in two ways is refused, by a short message that names the
// place as the client wrote it, and nothing has changed.
func TestOneSpelling(t *testing.T) {
	c, s := handled(t)
	c.begin(0, 1)
	c.begin(2)
	const zeros = `[[0,0,0,0,0,0,0,0]]`
	long := strings.Repeat("a", 100_000)
	for _, q := range [][3]string{
		{"/pause", `{"task": 1, "Task": 2}`, `the key \"Task\" is not known here`},
		{"/pause", `{"TASK": 2}`, `the key \"TASK\" is not known here`},
		{"/pause", `{"tas\u212a": 2}`, `is not known here`},
		{"/predict", `{"x": ` + zeros + `, "X": [[1,0,0,0,0,0,0,0]]}`, `the key \"X\" is not known here`},
		{"/detach", `{"task": 1, "keep": true, "KEEP": false}`, `the key \"KEEP\" is not known here`},
		{"/learn", `{"task": 1.0, "x": ` + zeros + `, "classes": [0]}`,
			`\"task\": 1.0 does not belong there; want a whole number`},
		{"/learn", `{"task": 1, "x": ` + zeros + `, "classes": [0.0]}`, `\"classes.0\": 0.0 does not belong there`},
		{"/learn", `{"task": 1, "x": [[0,0,0,0,0,0,0,1e39]], "classes": [0]}`, `\"x.0.7\": 1e39 does not belong there`},
		{"/learn", `{"task": 1, "x": [[0,0,0,0,0,0,0,"0"]], "classes": [0]}`, `\"x.0.7\": a text does not belong there`},
		{"/learn", `{"task": 1, "x": [0], "classes": [0]}`, `\"x.0\": a number does not belong there; want a list`},
		{"/learn", `{"task": 1, "x": {"a": 1}, "classes": [0]}`, `want a list of samples`},
		{"/tasks", "{\"name\": \"caf\xe9\", \"classes\": [3]}", `\"name\": this is not UTF-8`},
		{"/tasks", "{\"classes\": [3], \"names\": [\"th\xe9\"]}", `\"names.0\": this is not UTF-8`},
		{"/tasks", `{"classes": [3], "names": ["\ud83d"]}`, `\"names.0\": this is not UTF-8`},
		{"/tasks", `{"` + long + `": 1}`, `is not known here`},
		{"/tasks", `{"classes": [` + strings.Repeat("1,", 50_000) + `1]}`, ``},
		{"/learn", `{"task": 1, "x": ` + zeros + `, "classes": [` + strings.Repeat("9", 100_000) + `]}`,
			`\"classes.0\": 999`},
	} {
		if got := c.raw(q[0], q[1]); !strings.HasPrefix(got, "400 ") || !strings.Contains(got, q[2]) ||
			len(got) > mostSaid+100 {
			t.Errorf("%s %.80s: %.300s, want %s", q[0], q[1], got, q[2])
		}
	}
	if all := c.tasks(); len(all) != 2 || all[0].Paused || all[1].Paused || all[0].Ended || s.waiting(1) != 0 {
		t.Errorf("the tasks are %+v", all)
	}
}

// TestOtherForms: a client that sends something else than plain JSON is told what to send.
func TestOtherForms(t *testing.T) {
	c, _ := handled(t)
	c.begin(0, 1)
	const body = `{"x": [[0,0,0,0,0,0,0,0]]}`
	for _, q := range []struct {
		key, value, body string
		status           int
		said             string
	}{
		{"Content-Encoding", "gzip", "\x1f\x8b\x08", 415, "gzip"}, {"Content-Encoding", "br", body, 415, "br"},
		{"Content-Encoding", "deflate, gzip", body, 415, "deflate, gzip"},
		{"Content-Encoding", "Identity", body, 200, ""},
		{"Content-Type", "multipart/form-data; boundary=--x",
			"--x\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n[[1,0]]\r\n--x--\r\n", 400, "send JSON"},
		{"Content-Type", "application/x-www-form-urlencoded", "x=%5B%5B1%2C0%5D%5D", 400, "send JSON"},
		{"Content-Type", "application/x-www-form-urlencoded", body, 200, ""}, // as curl -d says
		{"Content-Type", "application/x-www-form-urlencoded", `{"x": }`, 400, "not JSON"},
	} {
		r := must.Get(http.NewRequest("POST", c.url+"/predict", strings.NewReader(q.body)))(t)
		r.Header.Set(q.key, q.value)
		answer := must.Get(http.DefaultClient.Do(r))(t)
		text := must.Get(io.ReadAll(answer.Body))(t)
		if answer.Body.Close(); answer.StatusCode != q.status || !strings.Contains(string(text), q.said) {
			t.Errorf("%s: %s: %d %s, want %d with %s", q.key, q.value, answer.StatusCode, text, q.status, q.said)
		}
	}
}

// post lets a handler answer a request that has not arrived over a network.
func post(h http.Handler, ctx context.Context, path string, body io.Reader) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", path, body))
	return w
}

// TestTaskIncremental: which task a sample is of is said by "task".
func TestTaskIncremental(t *testing.T) {
	s := openedAs(t, Options{}, func(o *pcl.Options) { o.Increment, o.Model = "task", mlp(t, 8, 16) })
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	c := client{t, server.URL}
	c.begin(0, 1)
	c.begin(0, 1, 2)
	if got := c.raw("/predict", `{"task": 2, "x": [[1,0,0,0,0,0,0,0]]}`); !strings.HasPrefix(got, "200 ") ||
		!strings.Contains(got, `"classes":[0,1,2]`) {
		t.Error(got)
	}
	for _, id := range []int{0, 3, -1} {
		if got := c.raw("/predict", fmt.Sprintf(`{"task": %d, "x": [[1,0,0,0,0,0,0,0]]}`, id)); !strings.Contains(got,
			"there is no task") {
			t.Error(got)
		}
	}
}

// TestAttacks: requests that are too large, too slow, or sent by the page of another site in the
// browser of whoever looks at it, are refused by a status that says whose fault it was, and the
// service goes on.
func TestAttacks(t *testing.T) {
	defer func(was int) { maxProbabilities = was }(maxProbabilities)
	maxProbabilities = 9 // of two classes, those of four samples
	s := opened(t, "")
	post(s.Handler(), t.Context(), "/tasks", strings.NewReader(`{"classes": [0, 1]}`))
	x := func(n int) string {
		return `{"x": [` + strings.Repeat("[0,0,0,0,0,0,0,0],", n-1) + "[0,0,0,0,0,0,0,0]]}"
	}
	name := strings.Repeat("a", maxName+1)
	for _, c := range []struct {
		method, path, body, key, value string
		want                           int
	}{
		{"POST", "/predict", x(4), "", "", 200}, {"POST", "/predict", x(5), "", "", 400},
		{"POST", "/tasks", `{"classes": [0], "name": "` + name + `"}`, "", "", 400},
		{"POST", "/tasks", `{"classes": [0], "names": ["` + name + `"]}`, "", "", 400},
		{"POST", "/tasks", `{"name": "` + strings.Repeat("a", maxSmall) + `"}`, "", "", 413},
		{"POST", "/tasks", `{"classes": [0]}`, "Sec-Fetch-Site", "cross-site", 403},
		{"POST", "/tasks", `{"classes": [0]}`, "Origin", "https://example.org", 403},
		{"POST", "/tasks", `{"classes": [0]}`, "Sec-Fetch-Site", "same-origin", 200},
		{"POST", "/tasks", `{"classes": [0]}`, "User-Agent", "curl", 200},
		{"GET", "/network", "", "Sec-Fetch-Site", "cross-site", 403},
		{"GET", "/network", "", "Sec-Fetch-Site", "same-site", 403},
		{"GET", "/network", "", "Sec-Fetch-Site", "same-origin", 200}, {"GET", "/network", "", "Sec-Fetch-Site", "none", 200},
		{"GET", "/network", "", "", "", 200},
	} {
		w, q := httptest.NewRecorder(), httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		if c.key != "" {
			q.Header.Set(c.key, c.value)
		}
		if s.Handler().ServeHTTP(w, q); w.Code != c.want {
			t.Errorf("%s %s %.40s %s: %d %.200s, want %d", c.method, c.path, c.body, c.value, w.Code, w.Body, c.want)
		}
	}
	slow := io.MultiReader(strings.NewReader(`{"x": [[0,`), iotest.ErrReader(os.ErrDeadlineExceeded))
	if w := post(s.Handler(), t.Context(), "/predict", slow); w.Code != 408 {
		t.Errorf("a slow request: %d %s", w.Code, w.Body)
	}
	w, q := httptest.NewRecorder(), httptest.NewRequest("POST", "/predict", iotest.ErrReader(io.ErrUnexpectedEOF))
	q.ContentLength = maxBody + 1
	if s.Handler().ServeHTTP(w, q); w.Code != 413 { // before anything is read
		t.Errorf("a length that is too large: %d %s", w.Code, w.Body)
	}
}

func second[T any](_ T, err error) error { return err }

// TestHosts: a page that lets its own name lead to the service is refused by that name.
func TestHosts(t *testing.T) {
	c, s := handled(t) // at a loopback address
	get := func(host string) int {
		q := must.Get(http.NewRequest("GET", c.url+"/tasks", nil))(t)
		q.Host = host
		r := must.Get(http.DefaultClient.Do(q))(t)
		r.Body.Close()
		return r.StatusCode
	}
	for host, want := range map[string]int{"": 200, "localhost:80": 200, "[::1]:80": 200, "[::1]": 200, "10.0.0.1": 200,
		"evil.example:80": 403, "learner.example": 403} {
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
