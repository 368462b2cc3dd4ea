package pcl

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// arrive adds a task of the given classes that runs.
func arrive(t *testing.T, all *tasks, classes ...int) *attached {
	t.Helper()
	h := must.Get(all.registry.next(classes))(t)
	a := &attached{Task: Task{Classes: classes}, id: all.registry.last() + 1, samples: new(atomic.Int64)}
	all.registry.add(a.Task, h, a.samples)
	all.start(a)
	return a
}

// TestTasks: an output counts as ended as long as a task that has it has ended and not come back.
func TestTasks(t *testing.T) {
	all := newTasks("class")
	first, second := arrive(t, all, 7, 5), arrive(t, all, 5, 9) // class 5 is common
	for _, c := range []struct {
		what           string
		change         func()
		running, ended []int
		outputs        []int
	}{
		{"both run", func() {}, []int{1, 2}, nil, nil},
		{"the first ends", func() { all.end(first) }, []int{2}, []int{1}, []int{0, 1}},
		{"the second ends", func() { all.end(second) }, nil, []int{1, 2}, []int{0, 1, 2}},
		{"the first comes back", func() { all.countEnded(1, -1); all.start(first) }, []int{1}, []int{2}, []int{1, 2}},
	} {
		t.Run(c.what, func(t *testing.T) {
			c.change()
			if got := all.running.ids(); !slices.Equal(got, c.running) {
				t.Errorf("running %v; want %v", got, c.running)
			}
			if got := all.endedIDs(); !slices.Equal(got, c.ended) {
				t.Errorf("ended %v; want %v", got, c.ended)
			}
			if got := slices.Sorted(slices.Values(all.endedOutputs())); !slices.Equal(got, c.outputs) {
				t.Errorf("outputs of ended tasks %v; want %v", got, c.outputs)
			}
		})
	}
}

// TestRunningTasksNeverChange: a list that was handed out stays as it is when tasks come and go.
func TestRunningTasksNeverChange(t *testing.T) {
	all := newTasks("task")
	first := arrive(t, all, 0)
	arrive(t, all, 1)
	before := all.running
	all.end(first)
	arrive(t, all, 2)
	if got := before.ids(); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("the list has become %v", got)
	}
	if at, runs := all.running.place(1); at != 0 || runs {
		t.Errorf("task 1, which has ended, is in place %d, running: %t", at, runs)
	}
}
