package pcl

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// TestClassNames: the names of a task's classes, which may be missing, are in predictions,
// checkpoints and the files of trained networks, and go with the tasks to the learners that take
// these up. They are copies.
func TestClassNames(t *testing.T) {
	b, d, dir := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 20, 5), t.TempDir()
	named := func(id int, names ...string) Task {
		task := must.Get(pairs(t, d)(id))(t)
		task.ClassNames = names
		return task
	}
	l := smallLearner(t, b, "avggrad", Options{})
	refused(t, second(l.Attach(named(1, "cat"))), "it has 1 names for 2 classes")
	want := [][]string{{"cat", "dog"}, nil, {"", "up"}}
	for i, names := range want {
		attach(t, l, named(i+1, names...))
	}
	saved, network := filepath.Join(dir, "learner.pcl"), filepath.Join(dir, "net.safetensors")
	must.Do(t, l.Save(saved))
	loaded, taught := smallLearner(t, b, "avggrad", Options{}), smallLearner(t, b, "avggrad", Options{})
	must.Do(t, loaded.Load(saved, pairs(t, d)))
	must.Do(t, must.Get(loaded.Network())(t).Save(network))
	must.Do(t, taught.SetNetwork(must.Get(LoadNetwork(network))(t)))
	p := must.Get(LoadPredictor(b, network))(t)
	defer p.Close()
	l.Tasks()[0].ClassNames[0] = "changed"
	for where, tasks := range map[string][]TaskInfo{
		"learner": l.Tasks(), "checkpoint": must.Get(must.Get(LoadState(saved))(t).Tasks())(t), "loaded": loaded.Tasks(),
		"taught": taught.Tasks(),
	} {
		t.Run(where, func(t *testing.T) {
			for i, info := range tasks {
				if !slices.Equal(info.ClassNames, want[i]) {
					t.Errorf("the classes of task %d are called %q, want %q", info.ID, info.ClassNames, want[i])
				}
			}
		})
	}
	x, _ := flat(d.Select(&d.Test, 1, 0, 1), 64)
	for _, one := range must.Get(p.PredictTask(1, x))(t) {
		if one.Name != want[0][one.Class] {
			t.Errorf("class %d is called %q, want %q", one.Class, one.Name, want[0][one.Class])
		}
	}

	state := must.Get(l.State())(t)
	refused(t, loaded.Restore(state, func(id int) (Task, error) {
		return named(id, "a", "b", "c"), nil
	}), "it has 3 names for 2 classes")
	given := []string{"a", "b"}
	must.Do(t, loaded.Restore(state, func(id int) (Task, error) { return named(id, given...), nil }))
	given[0] = "changed"
	if got := loaded.Tasks()[0].ClassNames; !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the classes are called %q", got)
	}
}

// TestOneNamePerClass: a class that two tasks have in common has one name, which the second need
// not repeat; a task that comes back has its old names.
func TestOneNamePerClass(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	l := smallLearner(t, b, "avggrad", Options{Increment: "class"})
	task := func(names ...string) Task {
		task := blobTask(t, d, 1, 0, 1)
		task.ClassNames = names
		return task
	}
	attach(t, l, task("cat", ""))
	refused(t, second(l.Attach(task("dog", "fox"))), "a class has one name")
	attach(t, l, task("", "fox"))
	x := make([]float32, 64)
	for _, p := range must.Get(l.Predict(x))(t) {
		if want := []string{"cat", "fox"}[p.Class]; p.Name != want {
			t.Errorf("class %d is called %q, want %q", p.Class, p.Name, want)
		}
	}
	must.Do(t, l.Detach(1, true))
	must.Do(t, l.Reattach(1, task("cat", "wolf")))
	if got := l.Tasks()[0].ClassNames; !slices.Equal(got, []string{"cat", ""}) {
		t.Errorf("the classes are called %q", got)
	}
}
