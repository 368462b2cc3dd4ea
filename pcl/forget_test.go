package pcl

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// TestForget: only tasks that nothing needs are forgotten; outputs, predictions and ids stay what they are, also in a file.
func TestForget(t *testing.T) {
	b, o := pcltest.Backend(t, backend.Go), Options{Increment: scenario.ClassIncremental}
	l := smallLearner(t, b, "emgd", o)
	visit := func(trained bool, names []string, classes ...int) int {
		t.Helper()
		s := newPush(t, classes...)
		id := attach(t, l, Task{Classes: classes, ClassNames: names, Stream: s})
		if trained {
			pushBlobs(t, s, 0, 1, classes[0])
			steps(t, l, 1)
		}
		must.Do(t, l.Detach(id, trained))
		return id
	}
	ids := func() (ids []int) {
		for _, info := range l.Tasks() {
			ids = append(ids, info.ID)
		}
		return ids
	}
	visit(false, nil, 5, 3)           // the first with its classes
	inMemory := visit(true, nil, 3)   // has a sample in the memory
	visit(false, nil, 3, 5)           // not needed
	visit(false, []string{"a"}, 3)    // the first with this name
	visit(false, []string{"a"}, 3)    // not needed
	newest := visit(false, nil, 5, 3) // not needed, but kept by who asks
	before := l.Classes()
	must.Do(t, l.Forget(func(info TaskInfo) bool { return info.ID != newest }))
	if !slices.Equal(ids(), []int{1, inMemory, 4, newest}) || !slices.Equal(before, l.Classes()) {
		t.Errorf("the tasks %v are kept, with the classes %v", ids(), l.Classes())
	}
	must.Do(t, l.Forget(func(TaskInfo) bool { return true }))
	file, x := filepath.Join(t.TempDir(), "l.pcl"), make([]float32, 64)
	must.Do(t, l.Save(file))
	want := must.Get(l.Predict(x))(t)
	l = smallLearner(t, b, "emgd", o)
	must.Do(t, l.Load(file, nil))
	if got := must.Get(l.Predict(x))(t); !reflect.DeepEqual(got, want) {
		t.Errorf("predicted %+v, before saving %+v", got, want)
	}
	if id := visit(false, nil, 5); id != newest+1 || !slices.Equal(ids(), []int{1, inMemory, 4, id}) {
		t.Errorf("task %d; want %d; the tasks are %v", id, newest+1, ids())
	}
	must.Do(t, l.Skip(100))
	if id := visit(false, nil, 5); id != 101 || l.Tasks()[1].Taken != 1 {
		t.Errorf("task %d; the tasks are %+v", id, l.Tasks())
	}
	refused(t, l.Reattach(3, Task{Stream: newPush(t, 3, 5)}))
}
