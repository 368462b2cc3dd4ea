package serve

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// TestPage: the page shows the tasks by names that clients chose, which stay text, and loads
// nothing from elsewhere.
func TestPage(t *testing.T) {
	s := openedAs(t, Options{}, func(*pcl.Options) {})
	h := s.Handler()
	server := httptest.NewServer(h)
	defer server.Close()
	c := client{t, server.URL}
	name := `<script>alert(1)</script> & "quoted"`
	task := ask[struct{ ID int }](c, "/tasks", request{Name: name, Classes: []int{0, 1}}).ID
	c.learn(task, 64, 0, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, nil) }()
	defer func() {
		cancel()
		must.Do(t, <-ended)
	}()
	eventually(t, "the samples were not learnt", func() bool { return s.learner.Tasks()[0].Samples == 64 })

	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if kind := w.Header().Get("Content-Type"); kind != "text/html; charset=utf-8" {
		t.Errorf("type %s", kind)
	}
	var text strings.Builder
	tags := map[string]int{}
	for n := range must.Get(html.Parse(w.Body))(t).Descendants() {
		if n.Type == html.ElementNode {
			tags[n.Data]++
			for _, a := range n.Attr {
				if a.Key == "src" || a.Key == "href" && a.Val != "metrics" {
					t.Errorf("%s %s=%s leads elsewhere", n.Data, a.Key, a.Val)
				}
			}
		} else if n.Type == html.TextNode {
			text.WriteString(n.Data + " ")
		}
	}
	if tags["script"] > 0 || !strings.Contains(text.String(), name) {
		t.Errorf("the name of the task is not shown as it is: %s", &text)
	}
	for _, want := range []string{"answering", "running", "64"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in %s", want, &text)
		}
	}
}

// TestPageOfManyTasks: tasks that have ended and are not shown cost next to nothing, whatever is
// known of them; a service that ends says so.
func TestPageOfManyTasks(t *testing.T) {
	s := openedAs(t, Options{}, func(*pcl.Options) {})
	h := s.Handler()
	for range 4 * mostShown {
		stream := must.Get(data.NewPushStream(8, 8, []int{0, 1}))(t)
		id := must.Get(s.learner.Attach(pcl.Task{Classes: []int{0, 1}, Stream: stream}))(t)
		must.Do(t, s.learner.Detach(id, false))
	}
	page := func() string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		return w.Body.String()
	}
	if text := page(); !strings.Contains(text, "answering") || !strings.Contains(text, "And 150 older ones") {
		t.Errorf("%s", text)
	}
	must.Get(
		s.learner.Attach(pcl.Task{Classes: []int{0, 1}, Stream: must.Get(data.NewPushStream(8, 8, []int{0, 1}))(t)}))(t)
	for _, once := range []string{"<main>", `aria-label="table of tasks"`, `aria-label="table of tasks that have ended"`} {
		if text := page(); strings.Count(text, once) != 1 {
			t.Errorf("%s stands %d times", once, strings.Count(text, once))
		}
	}
	without := testing.AllocsPerRun(5, func() { page() })
	for id := range 3 * mostShown {
		s.watch.at(id + 1).losses = slices.Repeat([]float64{3, 1}, curve/2)
	}
	if with := testing.AllocsPerRun(5, func() { page() }); with > without+100 {
		t.Errorf("with curves of tasks that it does not show, the page costs %v allocations; without %v", with, without)
	}
	s.finish()
	if text := page(); !strings.Contains(text, "It is ending") {
		t.Errorf("%s", text)
	}
}

// TestPolyline: a curve stays in its box, and one without a range in the middle of it.
func TestPolyline(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   string
	}{
		{"none", nil, ""},
		{"one", []float64{1}, ""},
		{"level", []float64{3, 3}, "2.0,14.0 118.0,14.0"},
		{"falling", []float64{4, 1}, "2.0,2.0 118.0,26.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := polyline(c.values); got != c.want {
				t.Errorf("%q; want %q", got, c.want)
			}
		})
	}
}
