package pcl

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// waves are samples of four inputs, two target values, and a weight where weighted is set. The targets are functions of
// the inputs that differ from task to task.
type waves struct {
	task     int
	weighted bool
	n        int
}

func (w waves) Len() int { return w.n }

func (w waves) Sample(i int, x []float32) int {
	for p := range 4 {
		x[p] = float32((37*i+11*p*p+5*p*i)%101) / 100
	}
	sum := float64(x[0] + x[1] - x[2])
	x[4], x[5] = float32(math.Sin(2*sum+float64(w.task))), float32(sum*float64(w.task-1))
	if w.weighted {
		x[6] = 1
		if i%4 == 0 { // a wrong sample that does not count
			x[4], x[6] = 9, 0
		}
	}
	return 2 * w.task
}

func (w waves) asTask(t *testing.T, id, epochs int) Task {
	t.Helper()
	stream, err := data.NewStream(w, epochs, 7, id)
	if err != nil {
		t.Fatal(err)
	}
	return Task{Classes: []int{2 * w.task, 2*w.task + 1}, Stream: stream, Test: w}
}

func regression(t *testing.T, b *backend.Backend, name string, o Options) *Learner {
	t.Helper()
	return smallLearner(t, b, name, regressionOptions(t, o))
}

func regressionOptions(t *testing.T, o Options) Options {
	t.Helper()
	if o.Model == nil {
		o.Model = must[*model.MLP](t)(model.NewMLP(4, []int{32, 16}, 4))
	}
	if o.Loss == nil {
		o.Loss = model.SquaredError{N: 2}
	}
	if o.Batch == 0 {
		o.Batch = 16
	}
	o.Memory = memory.Config{Policy: memory.PerClass, Budget: 40}
	return o
}

// TestRegression: tasks of real-valued targets are learnt one after another, and the first is not forgotten; the
// predictor's outputs have the loss that is measured; a learner that is loaded in between ends with the same bits.
func TestRegression(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, increment := range []scenario.Increment{scenario.TaskIncremental, scenario.ClassIncremental} {
		if b.Info.Name != backend.Go && increment == scenario.ClassIncremental {
			continue // it takes long
		}
		task := func(id int) (Task, error) { return waves{task: id, n: 160}.asTask(t, id, 15), nil }
		l := regression(t, b, "emgd-gmc+der-pp", Options{Increment: increment})
		for id := 1; id <= 2; id++ {
			attach(t, l, must[Task](t)(task(id)))
			for range 30 {
				must[*StepReport](t)(l.Step())
			}
		}
		path := filepath.Join(t.TempDir(), "learner.pcl")
		if err := l.Save(path); err != nil {
			t.Fatal(err)
		}
		loaded := regression(t, b, "emgd-gmc+der-pp", Options{Increment: increment})
		if err := loaded.Load(path, task); err != nil {
			t.Fatal(err)
		}
		playOut(t, loaded)
		playOut(t, l)
		if !slices.Equal(must[[]float32](t)(l.Parameters()), must[[]float32](t)(loaded.Parameters())) {
			t.Error("the learner that was loaded ends with other parameters")
		}
		file := filepath.Join(t.TempDir(), "net.safetensors")
		if err := must[*Trained](t)(l.Trained()).Save(file); err != nil {
			t.Fatal(err)
		}
		p := must[*Predictor](t)(LoadPredictor(b, file))
		defer p.Close()
		for id := 1; id <= 2; id++ {
			loss, w := must[float64](t)(l.EvaluateLoss(id)), waves{task: id, n: 160}
			if loss > 0.05 {
				t.Errorf("%s: task %d has a mean squared error of %.3f, want at most 0.05", increment, id, loss)
			}
			var x, y []float32
			for i := range w.n {
				one := make([]float32, 6)
				w.Sample(i, one)
				x, y = append(x, one[:4]...), append(y, one[4:]...)
			}
			sum := 0.0
			for i, out := range must[[][]float32](t)(p.Outputs(id, x)) {
				for k := range 2 {
					sum += math.Pow(float64(out[k]-y[2*i+k]), 2) / 2
				}
			}
			if got := sum / float64(w.n); math.Abs(got-loss) > 1e-5 {
				t.Errorf("%s: task %d: the outputs have a loss of %g, the learner says %g", increment, id, got, loss)
			}
		}
		for what, err := range map[string]error{
			"EvaluateLoss": second(l.Evaluate(1)), "Outputs": second(p.PredictTask(1, make([]float32, 4))), "task 3": second(p.Outputs(3, make([]float32, 4))),
		} {
			if err == nil {
				t.Errorf("want an error about %q, got %v", what, err)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestSampleWeights: samples of weight 0 change nothing, and a weight counts as often as it says.
func TestSampleWeights(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := regression(t, b, "avggrad", Options{Weighted: true})
	attach(t, l, waves{task: 1, weighted: true, n: 160}.asTask(t, 1, 15))
	playOut(t, l)
	if loss := must[float64](t)(l.EvaluateLoss(1)); loss > 0.05 {
		t.Errorf("with wrong samples of weight 0 the loss is %.3f", loss)
	}
	// one step from a sample of weight 2 and one of weight 1 is that from the first one twice and the second once
	step := func(samples ...[]float32) []float32 {
		l := regression(t, b, "avggrad", Options{Weighted: true, Batch: 3})
		attach(t, l, Task{Classes: []int{0, 1}, Stream: &listed{samples}})
		must[*StepReport](t)(l.Step())
		return must[[]float32](t)(l.Parameters())
	}
	one, two := []float32{.1, .2, .3, .4, 1, -1, 1}, []float32{.9, .2, .7, .4, 0, 1, 1}
	twice := slices.Clone(one)
	twice[6] = 2
	a, c := step(one, one, two), step(twice, two)
	for i := range a {
		if math.Abs(float64(a[i]-c[i])) > 1e-5 {
			t.Fatalf("parameter %d is %g with the sample twice, %g with weight 2", i, a[i], c[i])
		}
	}
	for _, bad := range []float32{-1, float32(math.NaN()), float32(math.Inf(1)), 0} {
		l := regression(t, b, "avggrad", Options{Weighted: true})
		wrong := slices.Clone(one)
		wrong[6] = bad
		if _, err := l.Attach(Task{Classes: []int{0, 1}, Stream: &listed{[][]float32{wrong}}}); err == nil {
			t.Errorf("weight %g: %v", bad, err)
		}
	}
}

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

// TestOwnLosses: sigmoids and a function of graph nodes learn, too, and memories are edited without their targets.
func TestOwnLosses(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	huber := model.LossFunc{Name: "huber", N: 2, F: func(outputs, targets *graph.Node) *graph.Node {
		d := graph.Abs(graph.Sub(outputs, targets))
		square := graph.MulScalar(graph.Mul(d, d), .5)
		return graph.ReduceMean(graph.Where(graph.LessOrEqual(d, graph.OnesLike(d)), square, graph.AddScalar(d, -.5)), 1)
	}}
	for _, loss := range []model.Loss{huber, model.SquaredError{N: 2}, model.BinaryCrossEntropy{N: 2}} {
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
				if it.Edits > 0 && it.Drift() > 0 {
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

// TestEditOfOwnLossWithLogits: a loss of one's own without tangents, beside stored logits which have them, is edited like one
// with tangents.
func TestEditOfOwnLossWithLogits(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	squares := model.LossFunc{Name: "squares", N: 2, F: func(outputs, targets *graph.Node) *graph.Node {
		d := graph.Sub(outputs, targets)
		return graph.ReduceMean(graph.Mul(d, d), 1)
	}}
	var edited [2][]float32
	for i, loss := range []model.Loss{squares, model.SquaredError{N: 2}} {
		rule := newMethod(t, "emgd-gmc+der-pp", map[string]any{"draws": "one"}) // both terms in one row
		l := regression(t, b, "", Options{Method: rule, Loss: loss, Edit: Edit{Eta: 0.01}})
		for id := 1; id <= 2; id++ {
			attach(t, l, waves{task: id, n: 64}.asTask(t, id, 1))
			playOut(t, l)
		}
		edited[i] = l.Memory().Pixels()
	}
	if !slices.EqualFunc(edited[0], edited[1], func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-4 }) {
		t.Error("the edits differ")
	}
}

// TestLossRefuses: what does not go with a loss of one's own is refused, and the message says why.
func TestLossRefuses(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for name, want := range map[string]string{"emgd": "predicts classes", "icarl": "emgd-gmc+der-pp", "gss": "what it stores", "avggrad+lwf": "loss of classes", "avggrad+las": "loss of classes", "avggrad+der-pp+x-der": "logits of classes", "gmed": "target values", "avggrad+gmed-release": "target values"} {
		o := completed(t, b, name, regressionOptions(t, Options{}))
		if _, err := NewLearner(o); err == nil {
			t.Errorf("%s: %v, want %q in it", name, err, want)
		}
	}
	if _, err := NewLearner(completed(t, b, "avggrad", regressionOptions(t, Options{Loss: model.SquaredError{N: 5}}))); err == nil {
		t.Errorf("five target values for four outputs: %v", err)
	}
	wrong := model.LossFunc{Name: "wrong", N: 2, F: func(outputs, targets *graph.Node) *graph.Node { return graph.ReduceAllSum(outputs) }}
	if _, err := NewLearner(completed(t, b, "avggrad", regressionOptions(t, Options{Loss: wrong}))); err == nil {
		t.Errorf("a loss that is a scalar: %v", err)
	}
	l := regression(t, b, "avggrad", Options{Increment: scenario.ClassIncremental})
	attach(t, l, waves{task: 1, n: 20}.asTask(t, 1, 1))
	for want, classes := range map[string][]int{"want 2": {7}, "belong to other tasks": {2, 9}, "same order": {3, 2}} {
		if _, err := l.Attach(Task{Classes: classes, Stream: &listed{}}); err == nil {
			t.Errorf("classes %v: %v, want %q in it", classes, err, want)
		}
	}
	shared := waves{task: 1, n: 20}.asTask(t, 2, 1)
	attach(t, l, shared) // the same outputs
	playOut(t, l)
}

// TestLoadOtherOptions: a state that would mean something else is refused; what may differ may differ.
func TestLoadOtherOptions(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 20, 5)
	l := smallLearner(t, b, "emgd-gmc", Options{})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	playOut(t, l)
	path := filepath.Join(t.TempDir(), "learner.pcl")
	if err := l.Save(path); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		"Increment": {Increment: scenario.ClassIncremental}, "Shared": {Shared: All}, "Optimizer": {Optimizer: optim.SGD{LR: .01}},
		"Loss": {Loss: model.SquaredError{N: 2}}, "Weighted": {Weighted: true}, "Memory.Policy": {Memory: memory.Config{Policy: memory.FixedTotal, Budget: 3}},
		"": {Optimizer: optim.Adam{LR: .5}, Batch: 4, Memory: memory.Config{Policy: memory.PerClass, Budget: 9}, Seed: 8},
	} {
		err := smallLearner(t, b, "emgd-gmc", o).Load(path, nil)
		if want == "" && err != nil || want != "" && (err == nil) {
			t.Errorf("%+v: %v, want %q in it", o, err, want)
		}
	}
}
