package pcl

import (
	"path/filepath"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// TestClassNames: the names of classes are in predictions, checkpoints, and the files of trained networks.
func TestClassNames(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	named := func(names ...string) Task {
		task := blobTask(t, d, 1, 0, 1)
		task.ClassNames = names
		return task
	}
	l := smallLearner(t, b, "emgd", Options{})
	if _, err := l.Attach(named("cat")); err == nil {
		t.Errorf("one name for two classes: %v", err)
	}
	attach(t, l, named("cat", "dog"))
	attach(t, l, blobTask(t, d, 2, 2, 3))
	for range 3 {
		must[*StepReport](t)(l.Step())
	}
	dir := t.TempDir()
	saved, network := filepath.Join(dir, "learner.pcl"), filepath.Join(dir, "net.safetensors")
	if err := l.Save(saved); err != nil {
		t.Fatal(err)
	}
	loaded := smallLearner(t, b, "emgd", Options{})
	if err := loaded.Load(saved, func(id int) (Task, error) { return blobTask(t, d, id, [][]int{{0, 1}, {2, 3}}[id-1]...), nil }); err != nil {
		t.Fatal(err)
	}
	if err := must[*Trained](t)(loaded.Trained()).Save(network); err != nil {
		t.Fatal(err)
	}
	x, _ := flat(d.Select(&d.Test, 1, 0, 1), 64)
	for what, p := range map[string]*Predictor{"snapshot": must[*Predictor](t)(loaded.Snapshot()), "file": must[*Predictor](t)(LoadPredictor(b, network))} {
		for _, one := range must[[]Prediction](t)(p.PredictTask(1, x)) {
			if want := []string{"cat", "dog"}[one.Class]; one.Name != want || p.ClassName(one.Class) != want {
				t.Errorf("%s: class %d is called %q, want %q", what, one.Class, one.Name, want)
			}
		}
		if p.ClassName(2) != "" || must[*Trained](t)(p.Trained()).Names[1] != "dog" {
			t.Errorf("%s: names of classes are lost, or made up", what)
		}
		p.Close()
	}
	if tasks := must[[]TaskInfo](t)(SavedTasks(saved)); tasks[0].ClassNames[1] != "dog" || tasks[1].ClassNames != nil {
		t.Errorf("the saved tasks are %+v", tasks)
	}
	playOut(t, loaded)
	if err := loaded.Reattach(1, Task{Stream: blobTask(t, d, 1, 0, 1).Stream}); err != nil || loaded.Tasks()[0].ClassNames[0] != "cat" {
		t.Errorf("a task that came back: %v, %+v", err, loaded.Tasks()[0])
	}
}

// TestOneNamePerClass: a class that two tasks have in common has one name, and the second need not repeat it.
func TestOneNamePerClass(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	l := smallLearner(t, b, "avggrad", Options{})
	task := func(names ...string) Task {
		task := blobTask(t, d, 1, 0, 1)
		task.ClassNames = names
		return task
	}
	attach(t, l, task("cat", ""))
	_, err := l.Attach(task("dog", "fox"))
	refused(t, err)
	attach(t, l, task("", "fox"))
	must[*StepReport](t)(l.Step())
	if p := must[*Predictor](t)(l.Snapshot()); p.ClassName(0) != "cat" || p.ClassName(1) != "fox" {
		t.Errorf("the classes are called %q and %q", p.ClassName(0), p.ClassName(1))
	}
	if err := l.Detach(1, true); err != nil {
		t.Fatal(err)
	}
	refused(t, l.Reattach(1, task("cat", "wolf")))
	if err := l.Reattach(1, task("lynx", "fox")); err != nil { // no other task calls class 0 anything
		t.Error(err)
	}
}
