package pcl

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// waves are samples of four inputs and two target values, which are functions of the inputs that
// differ from task to task.
type waves struct {
	task, n int
}

func (w waves) Len() int { return w.n }

func (w waves) Sample(i int, x []float32) int {
	for p := range 4 {
		x[p] = float32((37*i+11*p*p+5*p*i)%101) / 100
	}
	sum := float64(x[0] + x[1] - x[2])
	x[4], x[5] = float32(math.Sin(2*sum+float64(w.task))), float32(sum*float64(w.task-1))
	return 2 * w.task
}

func (w waves) asTask(t *testing.T, id, epochs int) Task {
	t.Helper()
	stream := must.Get(data.NewStream(w, epochs, 7, id))(t)
	return Task{Classes: []int{2 * w.task, 2*w.task + 1}, Stream: stream, Test: w}
}

func regression(t *testing.T, b *backend.Backend, name string, o Options) *Learner {
	t.Helper()
	return smallLearner(t, b, name, regressionOptions(t, o))
}

func regressionOptions(t *testing.T, o Options) Options {
	t.Helper()
	if o.Model == nil {
		o.Model = must.Get(model.NewMLP(4, []int{32, 16}, 4))(t)
	}
	if o.Loss == nil {
		o.Loss = model.SquaredError(2)
	}
	if o.Batch == 0 {
		o.Batch = 16
	}
	o.Memory = memory.Config{Policy: "per_class", Budget: 40}
	return o
}

// TestRegression: tasks of real-valued targets are learnt one after another, and the first is not
// forgotten; the predictor's outputs have the loss that is measured; a learner that is loaded in
// between ends with the same bits.
func TestRegression(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, increment := range []string{"task", "class"} {
		task := func(id int) (Task, error) { return waves{task: id, n: 160}.asTask(t, id, 15), nil }
		l, loaded := regression(t, b, "emgd-gmc+der-pp", Options{Increment: increment}),
			regression(t, b, "emgd-gmc+der-pp", Options{Increment: increment})
		for id := 1; id <= 2; id++ {
			attach(t, l, must.Get(task(id))(t))
			steps(t, l, 30)
		}
		must.Do(t, loaded.Restore(must.Get(l.State())(t), task))
		playOut(t, loaded)
		playOut(t, l)
		same(t, loaded, l)
		file := filepath.Join(t.TempDir(), "net.safetensors")
		must.Do(t, must.Get(l.Network())(t).Save(file))
		p := must.Get(LoadPredictor(b, file))(t)
		defer p.Close()
		for id := 1; id <= 2; id++ {
			loss, sum := must.Get(l.EvaluateLoss(id))(t), 0.0
			if loss > 0.05 {
				t.Errorf("%s: task %d has a mean squared error of %.3f, want at most 0.05", increment, id, loss)
			}
			for i := range 160 {
				x := make([]float32, 6)
				waves{task: id}.Sample(i, x)
				for k, out := range must.Get(p.Outputs(id, x[:4]))(t)[0] {
					sum += math.Pow(float64(out-x[4+k]), 2) / 2 / 160
				}
			}
			if math.Abs(sum-loss) > 1e-5 {
				t.Errorf("%s: task %d: the outputs have a loss of %g, the learner says %g", increment, id, sum, loss)
			}
		}
		refused(t, second(l.Evaluate(1)), "call EvaluateLoss")
		refused(t, second(p.PredictTask(1, make([]float32, 4))), "call Outputs")
		refused(t, second(p.Outputs(3, make([]float32, 4))), "there is no task 3")
	}
}

func second[T any](_ T, err error) error { return err }

// listed delivers one batch.
type listed struct{ samples [][]float32 }

func (l *listed) Next(b *data.Batch) error {
	b.N = 0
	for i, s := range l.samples {
		copy(b.X[i*len(s):], s)
		b.N++
	}
	return nil
}

// TestOwnLosses: sigmoids and a function of graph nodes learn, too, and memories are edited without
// their targets.
func TestOwnLosses(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	huber := model.LossFunc("huber", 2, func(outputs, targets *graph.Node) *graph.Node {
		d := graph.Abs(graph.Sub(outputs, targets))
		square := graph.MulScalar(graph.Mul(d, d), .5)
		return graph.ReduceMean(graph.Where(graph.LessOrEqual(d, graph.OnesLike(d)), square, graph.AddScalar(d, -.5)), 1)
	})
	for _, loss := range []model.Loss{huber, model.SquaredError(2), model.BinaryCrossEntropy(2)} {
		l := regression(t, b, "emgd-gmc", Options{Loss: loss, Edit: Edit{Eta: 0.01}})
		for id := 1; id <= 2; id++ {
			attach(t, l, waves{task: id, n: 160}.asTask(t, id, 3))
			playOut(t, l)
		}
		targets, want := map[string]bool{}, 0
		for i := range 160 {
			x := make([]float32, 6)
			waves{task: 1}.Sample(i, x)
			targets[fmt.Sprint(x[4:])] = true
		}
		edited := 0
		for i := range l.Memory().Len() {
			if it := l.Memory().Item(i); it.Task == 1 {
				want++
				if it.Edits > 0 && !slices.Equal(it.Pixels, it.Original) {
					edited++
				}
				if !targets[fmt.Sprint(it.Pixels[4:])] {
					t.Errorf("%s: a sample in the memory has the targets %v, which none had", loss.Key(), it.Pixels[4:])
				}
			}
		}
		if edited == 0 || want == 0 {
			t.Errorf("%s: %d of %d samples were edited", loss.Key(), edited, want)
		}
	}
}

// TestEditOfOwnLossWithLogits: a loss of one's own without tangents, beside stored logits which
// have them, is edited like one with tangents.
func TestEditOfOwnLossWithLogits(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	squares := model.LossFunc("squares", 2, func(outputs, targets *graph.Node) *graph.Node {
		d := graph.Sub(outputs, targets)
		return graph.ReduceMean(graph.Mul(d, d), 1)
	})
	var edited [2][]float32
	for i, loss := range []model.Loss{squares, model.SquaredError(2)} {
		rule := newMethod(t, "emgd-gmc+der-pp", map[string]any{"draws": "one"}) // both terms in one row
		l := regression(t, b, "", Options{Method: rule, Loss: loss, Edit: Edit{Eta: 0.01}})
		for id := 1; id <= 2; id++ {
			attach(t, l, waves{task: id, n: 64}.asTask(t, id, 1))
			playOut(t, l)
		}
		edited[i] = pixels(l)
	}
	if !slices.EqualFunc(edited[0], edited[1], func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-4 }) {
		t.Error("the edits differ")
	}
}

// TestLossRefuses: methods and losses that do not go with target values, and tasks that do not
// share outputs, are refused.
func TestLossRefuses(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	try := func(name string, o Options) error {
		return second(New(t.Context(), completed(t, b, name, regressionOptions(t, o))))
	}
	const forClasses, inputs = "is for losses of classes", "changes the pixels of stored samples"
	for name, want := range map[string]string{
		"emgd": forClasses, "icarl": forClasses, "gss": forClasses, "avggrad+lwf": forClasses, "avggrad+las": forClasses,
		"avggrad+der-pp+x-der": forClasses, "gmed": inputs, "avggrad+gmed-release": inputs,
	} {
		t.Run(name, func(t *testing.T) { refused(t, try(name, Options{}), want) })
	}
	// for four outputs
	refused(t, try("avggrad", Options{Loss: model.SquaredError(5)}), "want 1 to as many target values as outputs")
	scalar := model.LossFunc("scalar", 2, func(outputs, targets *graph.Node) *graph.Node {
		return graph.ReduceAllSum(outputs)
	})
	refused(t, try("avggrad", Options{Loss: scalar}), "want one value for each sample")
	l := regression(t, b, "avggrad", Options{Increment: "class"})
	attach(t, l, waves{task: 1, n: 20}.asTask(t, 1, 1))
	for _, classes := range [][]int{{7}, {2, 9}, {3, 2}} {
		refused(t, second(l.Attach(Task{Classes: classes, Stream: &listed{}})), "with loss squared-2")
	}
	attach(t, l, waves{task: 1, n: 20}.asTask(t, 2, 1)) // the same outputs
	playOut(t, l)
}
