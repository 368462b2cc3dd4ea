package serve

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing"

	"golang.org/x/sync/semaphore"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/scenario"
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

// TestMaxClasses: more classes than the service takes are refused, and those before them stay. In a task-incremental learner
// each task has outputs of its own, which count.
func TestMaxClasses(t *testing.T) {
	for increment, want := range map[scenario.Increment][]int{scenario.ClassIncremental: {400, 200, 200, 400}, scenario.TaskIncremental: {400, 200, 400, 400}} {
		s := openedWith(t, "", "emgd-gmc", increment, []int{16}, 8)
		s.options.MaxClasses = 3
		for i, body := range []string{`{"classes": [0, 1, 2, 3]}`, `{"classes": [0, 1, 2]}`, `{"classes": [1, 2]}`, `{"name": "a"}`} {
			if w := post(s.Handler(), t.Context(), "/tasks", strings.NewReader(body)); w.Code != want[i] {
				t.Errorf("%s, %s: %d %s", increment, body, w.Code, w.Body)
			}
		}
	}
}

// TestMaxTasks: no more tasks run at once than may, and another may begin when one has ended.
func TestMaxTasks(t *testing.T) {
	s := opened(t, "")
	s.options.MaxTasks = 2
	for _, c := range []struct {
		path, body string
		want       int
	}{
		{"/tasks", `{"classes": [0]}`, 200}, {"/tasks", `{"classes": [0]}`, 200}, {"/tasks", `{"classes": [0]}`, 400},
		{"/detach", `{"task": 1}`, 200}, {"/reattach", `{"task": 1}`, 200}, {"/tasks", `{"classes": [0]}`, 400},
		{"/detach", `{"task": 2}`, 200}, {"/tasks", `{"classes": [0]}`, 200}, {"/reattach", `{"task": 2}`, 400},
	} {
		if w := post(s.Handler(), context.Background(), c.path, strings.NewReader(c.body)); w.Code != c.want {
			t.Errorf("%s %s: %d %s", c.path, c.body, w.Code, w.Body)
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

// TestMaxKept: no task may begin beyond those that are kept, also those that have ended.
func TestMaxKept(t *testing.T) {
	s := opened(t, "")
	s.options.MaxKept = 4
	c := func(path, body string) string {
		return post(s.Handler(), t.Context(), path, strings.NewReader(body)).Body.String()
	}
	for i := range 4 {
		if got, want := c("/tasks", `{"classes": [0, 1]}`), fmt.Sprintf(`{"id":%d}`, i+1); strings.TrimSpace(got) != want {
			t.Fatalf("%s, want %s", got, want)
		}
		c("/detach", fmt.Sprintf(`{"task": %d}`, i+1))
	}
	if got := c("/tasks", `{"classes": [0, 1]}`); !strings.Contains(got, "Options.MaxKept") {
		t.Errorf("a task too many: %s", got)
	}
}
