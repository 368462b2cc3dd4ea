package pcl

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// refused fails the test unless there is an error.
func refused(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Error("no error")
	}
}

// perClass counts the stored samples of each class.
func perClass(l *Learner) map[int]int {
	n := map[int]int{}
	for i := range l.memory.Len() {
		n[l.memory.Item(i).Class]++
	}
	return n
}

// TestLoadTakesBudget: the memory has the budget of the new learner's options.
func TestLoadTakesBudget(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	l := smallLearner(t, b, "avggrad", Options{})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	playOut(t, l)
	state := must[State](t)(l.State())
	for budget, old := range map[int]int{10: 3, 3: 3, 2: 2, 0: 0} {
		next := smallLearner(t, b, "avggrad", Options{Memory: memory.Config{Policy: memory.PerClass, Budget: budget}})
		if err := next.Restore(state, nil); err != nil {
			t.Fatal(err)
		}
		if n := perClass(next); n[0] != old || n[1] != old {
			t.Errorf("with a budget of %d, the memory is loaded with %v", budget, n)
		}
		attach(t, next, blobTask(t, d, 2, 2, 3))
		playOut(t, next)
		if n := perClass(next); n[2] != budget || n[3] != budget {
			t.Errorf("with a budget of %d, a new task leaves %v", budget, n)
		}
	}
}

// TestLoadOtherModel: a model with as many parameters, but of another shape, is refused, and one of an old file, which
// does not tell the model, is taken.
func TestLoadOtherModel(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	of := func(hidden ...int) *Learner {
		return smallLearner(t, b, "avggrad", Options{Model: must[*model.MLP](t)(model.NewMLP(64, hidden, 6))})
	}
	state := must[State](t)(of(4, 19).State())
	refused(t, of(5, 12).Restore(state, nil))
	state.JSON = []byte(strings.Replace(string(state.JSON), `,"model":"mlp-64-[4 19]-6"`, "", 1))
	if err := of(4, 19).Restore(state, nil); err != nil {
		t.Errorf("an old file: %v", err)
	}
}

// TestLoadDamagedMemory: samples that are not finite, as older programs could save, are refused, and nothing changes.
func TestLoadDamagedMemory(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	l := smallLearner(t, b, "avggrad", Options{})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	playOut(t, l)
	state := must[State](t)(l.State())
	state.Arrays["memory"][3] = float32(math.NaN())
	other := smallLearner(t, b, "avggrad", Options{})
	attach(t, other, blobTask(t, d, 1, 2, 3))
	refused(t, other.Restore(state, nil))
	must[*StepReport](t)(other.Step())
	if tasks := other.Tasks(); len(tasks) != 1 || !slices.Equal(tasks[0].Classes, []int{2, 3}) {
		t.Errorf("tasks after a state was refused: %v", tasks)
	}
}

// TestLoadSmallerBatch: a batch that was fetched and does not fit is refused, and nothing changes.
func TestLoadSmallerBatch(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	l := smallLearner(t, b, "avggrad", Options{})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	state := must[State](t)(l.State())
	small := smallLearner(t, b, "avggrad", Options{Batch: 4})
	attach(t, small, blobTask(t, d, 1, 2, 3))
	refused(t, small.Restore(state, func(int) (Task, error) { return blobTask(t, d, 1, 0, 1), nil }))
	must[*StepReport](t)(small.Step())
	if got := small.Tasks()[0].Classes; !slices.Equal(got, []int{2, 3}) {
		t.Errorf("it has a task of the classes %v", got)
	}
}

// TestLoadOtherParameters: the state of a method with other parameters is refused, and the learner goes on as it was.
func TestLoadOtherParameters(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	of := func(tau float64) *Learner {
		l := smallLearner(t, b, "", Options{Method: newMethod(t, "emgd", map[string]any{"tau": tau})})
		attach(t, l, blobTask(t, d, 1, 0, 1))
		must[*StepReport](t)(l.Step())
		return l
	}
	other := must[State](t)(of(3).State())
	l, want := of(1.5), of(1.5)
	refused(t, l.Restore(other, func(int) (Task, error) { return blobTask(t, d, 1, 0, 1), nil }))
	for range 2 {
		must[*StepReport](t)(l.Step())
		must[*StepReport](t)(want.Step())
	}
	same(t, l, want)
}

// TestLoadClassNames: names that do not fit the classes are refused, and those that do are copied.
func TestLoadClassNames(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	l := smallLearner(t, b, "avggrad", Options{})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	playOut(t, l)
	state := must[State](t)(l.State())
	names := []string{"a", "b", "c"}
	give := func(int) (Task, error) { return Task{ClassNames: names}, nil }
	refused(t, l.Restore(state, give))
	names = names[:2]
	if err := l.Restore(state, give); err != nil {
		t.Fatal(err)
	}
	names[0] = "changed"
	if got := l.Tasks()[0].ClassNames; !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the classes are called %q", got)
	}
}

// growing returns learners of one hidden layer whose two outputs grow.
func growing(t *testing.T, b *backend.Backend, hidden int) *Learner {
	t.Helper()
	return smallLearner(t, b, "avggrad", Options{Model: must[*model.MLP](t)(model.NewMLP(64, []int{hidden}, 2)), Grow: true})
}

// TestLoadGrown: a learner takes on the outputs of a file, whether more or fewer, also after it had stopped; it keeps its
// own if the file is refused.
func TestLoadGrown(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 20, 5)
	task := func(id int) (Task, error) { return blobTask(t, d, id, [][]int{{0, 1}, {2, 3, 4}}[id-1]...), nil }
	l := growing(t, b, 8)
	attach(t, l, must[Task](t)(task(1)))
	playOut(t, l)
	early, at := must[State](t)(l.State()), must[[]float32](t)(l.Parameters())
	attach(t, l, must[Task](t)(task(2)))
	playOut(t, l)
	late := must[State](t)(l.State())

	other := growing(t, b, 9)
	refused(t, other.Restore(late, nil))
	late.JSON = []byte(strings.Replace(string(late.JSON), `,"model":"mlp-64-[8]-5"`, "", 1))
	refused(t, other.Restore(late, nil))
	huge := late
	huge.JSON = []byte(strings.Replace(string(late.JSON), `"outputs":5`, `"outputs":1000000000000`, 1))
	refused(t, other.Restore(huge, nil))
	if n := other.Options().Model.Outputs(); n != 2 {
		t.Errorf("a refused file leaves %d outputs, want 2", n)
	}

	stopped := growing(t, b, 8)
	attach(t, stopped, must[Task](t)(task(1)))
	stopped.network.free() // as after a failure of the device
	stopped.failure = errors.New("device")
	if err := stopped.Restore(late, nil); err != nil {
		t.Fatal(err)
	}
	same(t, stopped, l)

	path := filepath.Join(t.TempDir(), "late.pcl")
	if err := l.Save(path); err != nil {
		t.Fatal(err)
	}
	if err := l.Restore(early, nil); err != nil {
		t.Fatal(err)
	}
	if got := must[[]float32](t)(l.Parameters()); !slices.Equal(got, at) || l.Options().Model.Outputs() != 2 {
		t.Error("it is not what it was before it grew")
	}
	attach(t, l, must[Task](t)(task(2))) // it grows again
	playOut(t, l)
	if err := stopped.Load(path, nil); err != nil {
		t.Fatal(err)
	}
	same(t, l, stopped)
}
