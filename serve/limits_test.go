package serve

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// TestUnusable: New says what is wrong with a learner or options that no service can be made of.
func TestUnusable(t *testing.T) {
	learner := opened(t, "").learner
	for want, o := range map[string]Options{"Options.Waiting": {Waiting: -1}, "Options.MaxClasses": {MaxClasses: -1}} {
		if _, err := New(learner, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := New(nil, Options{}); err == nil || !strings.Contains(err.Error(), "pcl.NewLearner") {
		t.Errorf("no learner: %v", err)
	}
	stream, err := data.NewPush(8, 16, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := learner.Attach(pcl.Task{Classes: []int{0}, Stream: stream}); err != nil {
		t.Fatal(err)
	}
	if _, err := New(learner, Options{}); err == nil || !strings.Contains(err.Error(), "tasks [1] of the learner run already") {
		t.Errorf("a task that runs: %v", err)
	}
}

// TestMaxClasses: more classes than the service takes are refused, and those before them stay.
func TestMaxClasses(t *testing.T) {
	s := opened(t, "")
	s.options.MaxClasses = 3
	for body, want := range map[string]string{
		`{"classes": [0, 1, 2, 3]}`: "takes up to 3",
		`{"name": "a"}`:             `"classes\" are missing`,
	} {
		if w := post(s.Handler(), context.Background(), "/tasks", strings.NewReader(body)); w.Code != 400 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := post(s.Handler(), context.Background(), "/learn", strings.NewReader(`{"x": [], "classes": []}`)); w.Code != 400 || !strings.Contains(w.Body.String(), `"task\" is missing`) {
		t.Errorf("no task: %d %s", w.Code, w.Body)
	}
	if w := post(s.Handler(), context.Background(), "/tasks", strings.NewReader(`{"classes": [0, 1, 2]}`)); w.Code != 200 {
		t.Errorf("three classes: %d %s", w.Code, w.Body)
	}
	if w := post(s.Handler(), context.Background(), "/tasks", strings.NewReader(`{"classes": [1, 2]}`)); w.Code != 200 {
		t.Errorf("the same classes again: %d %s", w.Code, w.Body)
	}
}

// TestMaxClassesOfFile: a service whose limit was lowered still takes up the tasks in its file.
func TestMaxClassesOfFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "learner.pcl")
	c, stop := start(t, file)
	c.begin(0, 1, 2)
	stop()
	learner := opened(t, "").learner
	s, err := New(learner, Options{File: file, MaxClasses: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.file.close()
	if n := len(learner.Classes()); n != 3 {
		t.Errorf("%d classes", n)
	}
}

// TestSkippedBatches: batches whose samples were taken and could not be trained on are counted, and told in the log.
func TestSkippedBatches(t *testing.T) {
	var said lines
	s := openedWith(t, "", "emgd-gmc", scenario.ClassIncremental, []int{16}, 4)
	s.options.ErrorLog = log.New(&said, "", 0)
	c, stop := serving(t, s)
	id := c.begin(0)
	c.raw("/learn", `{"task": 1, "x": [[3e38,3e38,3e38,3e38,3e38,3e38,3e38,3e38], [-3e38,3e38,-3e38,3e38,3e38,3e38,3e38,3e38]], "classes": [0, 0]}`)
	eventually(t, "the batch is counted", func() bool { return c.tasks()[0].Skipped == 1 })
	stop()
	if id != 1 || !strings.Contains(said.String(), "a batch of task 1 could not be trained on") {
		t.Errorf("task %d; the log says %q", id, said.String())
	}
}

// TestAnnouncedLength: a request that says that it is too large is answered before it is read.
func TestAnnouncedLength(t *testing.T) {
	s := opened(t, "")
	body := &counted{Reader: io.MultiReader(strings.NewReader(`{"x": [[`), bytes.NewReader(make([]byte, 1<<20)))}
	q, w := httptest.NewRequest("POST", "/predict", body), httptest.NewRecorder()
	q.ContentLength = maxBody + 1
	s.Handler().ServeHTTP(w, q)
	if w.Code != 413 || body.n > 0 {
		t.Errorf("%d %s after %d bytes", w.Code, w.Body, body.n)
	}
}
