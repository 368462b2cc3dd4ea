package pcl_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// TestForget: only tasks that nothing needs are forgotten; outputs, predictions and ids stay what they are, also in a file.
func TestForget(t *testing.T) {
	device, err := backend.Open(context.Background(), backend.Options{Name: backend.Go})
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	open := func() *pcl.Learner {
		rule, err := method.New("emgd", nil)
		if err != nil {
			t.Fatal(err)
		}
		net, err := model.NewMLP(2, []int{4}, 6)
		if err != nil {
			t.Fatal(err)
		}
		l, err := pcl.NewLearner(pcl.Options{Backend: device, Model: net, Method: rule, Increment: scenario.ClassIncremental, Batch: 4,
			Optimizer: optim.Adam{LR: 0.01}, Memory: memory.Config{Policy: memory.PerClass, Budget: 2}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		return l
	}
	l := open()
	attach := func(trained bool, names []string, classes ...int) int {
		s, err := data.NewPush(2, 8, classes)
		if err != nil {
			t.Fatal(err)
		}
		id, err := l.Attach(pcl.Task{Classes: classes, ClassNames: names, Stream: s.AtLeast(1)})
		if err != nil {
			t.Fatal(err)
		}
		if trained {
			s.Push(t.Context(), []float32{1, float32(id)}, classes[0])
			if _, err := l.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Detach(id, trained); err != nil {
			t.Fatal(err)
		}
		return id
	}
	attach(false, nil, 5, 3)           // the first with its classes
	inMemory := attach(true, nil, 3)   // has a sample in the memory
	attach(false, nil, 3, 5)           // not needed
	attach(false, []string{"a"}, 3)    // the first with this name
	attach(false, []string{"a"}, 3)    // not needed
	newest := attach(false, nil, 5, 3) // not needed, but kept by who asks
	ask := func(info pcl.TaskInfo) bool { return info.ID != newest }
	before := l.Classes()
	if err := l.Forget(ask); err != nil {
		t.Fatal(err)
	}
	ids := func(l *pcl.Learner) (ids []int) {
		for _, info := range l.Tasks() {
			ids = append(ids, info.ID)
		}
		return ids
	}
	if got := ids(l); !slices.Equal(got, []int{1, inMemory, 4, newest}) || !slices.Equal(before, l.Classes()) {
		t.Errorf("the tasks %v are kept, with the classes %v", got, l.Classes())
	}
	if err := l.Forget(func(pcl.TaskInfo) bool { return true }); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "l.pcl")
	if err := l.Save(file); err != nil {
		t.Fatal(err)
	}
	predicted := func(l *pcl.Learner) pcl.Prediction {
		p, err := l.Predict([]float32{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		return p[0]
	}
	want := predicted(l)
	l = open()
	if err := l.Load(file, nil); err != nil {
		t.Fatal(err)
	}
	if got := predicted(l); !slices.Equal(got.Classes, want.Classes) || !slices.Equal(got.Probabilities, want.Probabilities) {
		t.Errorf("predicted %+v, before saving %+v", got, want)
	}
	if id := attach(false, nil, 5); id != newest+1 || !slices.Equal(ids(l), []int{1, inMemory, 4, id}) {
		t.Errorf("task %d; want %d; the tasks are %v", id, newest+1, ids(l))
	}
	if err := l.Skip(100); err != nil {
		t.Fatal(err)
	}
	if id := attach(false, nil, 5); id != 101 || l.Tasks()[1].Taken != 1 {
		t.Errorf("task %d; the tasks are %+v", id, l.Tasks())
	}
	again, err := data.NewPush(2, 8, []int{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Reattach(3, pcl.Task{Stream: again}); err == nil {
		t.Error("a forgotten task begins again")
	}
}
