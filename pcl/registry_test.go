package pcl

import (
	"context"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// runningTask returns a task that runs, by its id.
func runningTask(l *Learner, id int) *attached {
	return l.tasks.running.get(id)
}

// TestHistoryCostsNothing: the calls of each round cost the same after many tasks have ended. The
// fastest of several rounds counts, and there is room for noise: before, it took tens of times as
// long.
func TestHistoryCostsNothing(t *testing.T) {
	const history, most = 20000, 3
	for _, name := range []string{"gem", "avggrad+lwf"} {
		t.Run(name, func(t *testing.T) {
			l := smallLearner(t, pcltest.Backend(t, backend.Go), name,
				Options{Increment: "class", Memory: memory.Config{Policy: "per_class", Budget: 4}})
			push := newPush(t, 0, 1)
			id := attach(t, l, Task{Classes: []int{0, 1}, Stream: push})
			x := make([]float32, 2*l.options.Model.Inputs())
			jobs := map[string]func(){
				"a step": func() {
					must.Get(push.Push(context.Background(), x, 0, 1))(t)
					must.Get(l.Step())(t)
				},
				"a snapshot": func() {
					p := must.Get(l.Snapshot())(t)
					must.Get(p.Predict(x))(t)
					p.Close()
				},
				"coming and going": func() {
					must.Do(t, l.Reattach(1, Task{Stream: newPush(t, 0, 1)}))
					must.Do(t, l.Detach(1, true))
					come(t, l)
				},
				"a pause": func() {
					must.Do(t, l.Pause(id))
					pcltest.Equal(t, "running while paused", len(l.Running()), 0)
					must.Do(t, l.Resume(id))
					pcltest.Equal(t, "classes", l.Classes(), []int{0, 1})
				},
			}
			jobs["a step"]()
			must.Do(t, l.Detach(id, true))
			push = newPush(t, 0, 1)
			id = attach(t, l, Task{Classes: []int{0, 1}, Stream: push})
			before := map[string]time.Duration{}
			for what, job := range jobs {
				before[what] = fastest(job)
			}
			for range history {
				come(t, l)
			}
			for what, job := range jobs {
				if after := fastest(job); after > most*before[what]+20*time.Microsecond {
					t.Errorf("%s takes %v after %d tasks have ended, and %v before", what, after, history, before[what])
				}
			}
			tasks := l.Tasks()
			if len(tasks) < history {
				t.Errorf("%d tasks; want at least %d", len(tasks), history)
			}
			pcltest.Equal(t, name+": the last task has ended", tasks[len(tasks)-1].Ended, true)
			pcltest.Equal(t, name+": the running task has ended", tasks[id-1].Ended, false)
		})
	}
}

// come attaches a task that ends without a sample.
func come(t *testing.T, l *Learner) {
	t.Helper()
	id := attach(t, l, Task{Classes: []int{0, 1},
		Stream: must.Get(data.NewPushStream(l.options.Model.Inputs(), 8, []int{0, 1}))(t)})
	must.Do(t, l.Detach(id, false))
}

// fastest returns the shortest time that a job takes.
func fastest(job func()) time.Duration {
	least := time.Hour
	for range 30 {
		start := time.Now()
		job()
		least = min(least, time.Since(start))
	}
	return least
}

// TestSnapshotKeepsItsTasks: what happens to tasks after a snapshot is not seen in it.
func TestSnapshotKeepsItsTasks(t *testing.T) {
	l := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad", Options{})
	stream := func() data.Stream {
		return must.Get(data.NewPushStream(l.options.Model.Inputs(), 8, []int{0, 1}))(t)
	}
	attach(t, l, Task{Classes: []int{0, 1}, ClassNames: []string{"a", ""}, Stream: stream()})
	p := must.Get(l.Snapshot())(t)
	defer p.Close()
	must.Do(t, l.Detach(1, false))
	must.Do(t, l.Reattach(1, Task{Stream: stream()}))
	attach(t, l, Task{Classes: []int{1, 2}, ClassNames: []string{"b", "c"}, Stream: stream()})
	x := make([]float32, l.options.Model.Inputs())
	one := must.Get(p.PredictTask(1, x))(t)[0]
	refused(t, second(p.PredictTask(2, x)), "there is no task 2")
	pcltest.Equal(t, "name", one.Name, []string{"a", ""}[one.Class])
	pcltest.Equal(t, "classes of the snapshot", p.Classes(), []int{0, 1})
}
