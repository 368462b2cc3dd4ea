package pcl

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// smallLearner has a 64-16-8 MLP with 6 outputs unless a model is given.
func smallLearner(t testing.TB, b *backend.Backend, name string, o Options) *Learner {
	t.Helper()
	l := must.Get(New(t.Context(), completed(t, b, name, o)))(t)
	t.Cleanup(l.Close)
	return l
}

// completed fills in what is missing in the options of a small learner.
func completed(t testing.TB, b *backend.Backend, name string, o Options) Options {
	t.Helper()
	m := o.Method // "" takes the given one
	if name != "" {
		m = newMethod(t, name, nil)
	}
	if o.Model == nil {
		net := must.Get(model.NewMLP(64, []int{16, 8}, 6))(t)
		o.Model = net
	}
	o.Backend, o.Method = b, m
	if o.Increment == "" {
		o.Increment = "task"
	}
	if o.Optimizer == nil {
		o.Optimizer = optim.Adam{LR: 0.01}
	}
	if o.Batch == 0 {
		o.Batch = 8
	}
	if o.Memory == (memory.Config{}) {
		o.Memory = memory.Config{Policy: "per_class", Budget: 3}
	}
	if o.Programs == nil {
		o.Programs = programsOf(b)
	}
	return o
}

var compiled = map[*backend.Backend]*Programs{}

// programsOf keeps what was compiled for the learners of all tests, which run one after the other.
func programsOf(b *backend.Backend) *Programs {
	if compiled[b] == nil {
		compiled[b] = NewPrograms(b)
	}
	return compiled[b]
}

func newMethod(t testing.TB, name string, params map[string]any) method.Method {
	t.Helper()
	m := must.Get(method.New(name, params))(t)
	return m
}

func blobTask(t testing.TB, d *datasets.Dataset, id int, classes ...int) Task {
	t.Helper()
	train := d.Select(&d.Train, 0, classes...)
	stream := must.Get(data.NewStream(train, 1, 7, id))(t)
	return Task{Classes: classes, Stream: stream, Test: d.Select(&d.Test, 0, classes...)}
}

// pairs gives back tasks of two classes each.
func pairs(t testing.TB, d *datasets.Dataset) func(id int) (Task, error) {
	return func(id int) (Task, error) { return blobTask(t, d, id, 2*id-2, 2*id-1), nil }
}

func attach(t testing.TB, l *Learner, task Task) int {
	t.Helper()
	id := must.Get(l.Attach(task))(t)
	return id
}

// TestStreamsComeAndGo attaches tasks while the learner runs and checks rows, memory, accuracy and
// that nothing is compiled on the way.
func TestStreamsComeAndGo(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		d := pcltest.Blobs(6, 60, 20)
		l := smallLearner(t, b, "emgd-gmc", Options{})
		if _, err := l.Step(); !errors.Is(err, ErrNoStream) {
			t.Fatalf("a step without streams: %v, want ErrNoStream", expect.Text(err))
		}
		must.Do(t, l.Precompile(4))
		compiled := l.network.programs.Compilations()
		var rows []int
		for step := range 25 {
			if step%5 == 0 && step < 15 {
				id := step/5 + 1
				attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
			}
			rows = append(rows, len(must.Get(l.Step())(t).IDs))
		}
		// 120 samples in batches of 8 are 15 steps a task: 0–14, 5–19, 10–24.
		want := []int{1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2}
		if !slices.Equal(rows, want) || len(l.Running()) > 0 {
			t.Errorf("steps of %v rows, want %v; %v run", rows, want, l.Running())
		}
		if n := l.network.programs.Compilations(); n != compiled || n == 0 {
			t.Errorf("%d programs were compiled, and %d while streams came and went", compiled, n-compiled)
		}
		if n := l.Memory().Len(); n != 18 {
			t.Errorf("the memory holds %d samples, want 6 classes × 3", n)
		}
		for id := 1; id <= 3; id++ {
			if acc := must.Get(l.Evaluate(id))(t); acc < 0.9 {
				t.Errorf("task %d: accuracy %.2f, want at least 0.9", id, acc)
			}
		}
	})
}

// TestUpdateIsWeightedSum checks one SGD step of three streams against the gradients themselves:
// the shared parameters move by Σ wᵢgᵢ, the private ones by Σ gᵢ.
func TestUpdateIsWeightedSum(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		for _, increment := range []string{"task", "class"} {
			d := pcltest.Blobs(6, 20, 5)
			l := smallLearner(t, b, "emgd-gmc", Options{Increment: increment, Optimizer: optim.SGD{LR: 0.1}})
			for id := 1; id <= 3; id++ {
				attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
			}
			before := must.Get(l.Parameters())(t)
			rows := gradients(t, l)
			r := must.Get(l.Step())(t)
			after := must.Get(l.Parameters())(t)
			shared := l.network.programs.Shared
			for i := range rows {
				for j := range rows {
					want := dot(rows[i][:shared], rows[j][:shared])
					squares := dot(rows[i][:shared], rows[i][:shared]) * dot(rows[j][:shared], rows[j][:shared])
					if got := r.Gram[3*i+j]; math.Abs(got-want) > 1e-5*math.Sqrt(squares) {
						t.Errorf("%s: M[%d,%d] = %g, want %g", increment, i, j, got, want)
					}
				}
			}
			for p := range before {
				move := 0.0
				for i, g := range rows {
					w := r.Weights[i]
					if p >= shared {
						w = 1
					}
					move += w * float64(g[p])
				}
				if got, want := float64(after[p]-before[p]), -0.1*move; math.Abs(got-want) > 1e-6+1e-4*math.Abs(want) {
					t.Fatalf("%s: parameter %d moved by %g, want %g", increment, p, got, want)
				}
			}
			if want := math.Sqrt(quadratic(r.Gram, r.Weights)); math.Abs(r.NormD-want) > 1e-4*want {
				t.Errorf("%s: ‖d‖ = %g, want %g", increment, r.NormD, want)
			}
		}
	})
}

// differentiated returns the rows of the next step with their gradients.
func differentiated(t *testing.T, l *Learner) []row {
	t.Helper()
	s := l.newStep()
	s.rows = append(must.Get(s.memoryRows())(t), must.Get(s.taskRows())(t)...)
	must.Do(t, s.setTargets(s.rows))
	for i := range s.rows {
		s.rows[i].observed = true // the running statistics stay
	}
	must.Get(s.gradients(device.Products{}))(t)
	return s.rows
}

// gradients computes each stream's gradient of the batch that the next step will use.
func gradients(t *testing.T, l *Learner) [][]float32 {
	t.Helper()
	var out [][]float32
	for _, r := range differentiated(t, l) {
		g := make([]float32, l.network.total())
		must.Do(t, r.Flat.ToFlatData(g))
		out = append(out, g)
		r.free()
	}
	return out
}

func dot(a, b []float32) float64 {
	s := 0.0
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

func quadratic(m, w []float64) float64 {
	s := 0.0
	for i := range w {
		for j := range w {
			s += w[i] * w[j] * m[i*len(w)+j]
		}
	}
	return s
}

// TestOverflowingGradientIsLeftOut gives a method that never looks at gradients two that overflow,
// though their losses are finite. One sample alone costs itself only; of a whole batch, the other
// streams train on.
func TestOverflowingGradientIsLeftOut(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 20, 5)
	l := smallLearner(t, b, "avggrad", Options{})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	attach(t, l, blobTask(t, d, 2, 2, 3))
	attach(t, l, blobTask(t, d, 3, 4, 5))
	before := must.Get(l.Parameters())(t)
	clear(before[:16]) // what the first pixel is multiplied with
	l.tasks.running[0].current.X[0] = 3e38
	for i := range l.tasks.running[2].current.N {
		l.tasks.running[2].current.X[64*i] = 3e38
	}
	must.Do(t, l.network.begin(before))
	r := must.Get(l.Step())(t)
	after := must.Get(l.Parameters())(t)
	pcltest.Equal(t, "the step was rejected", r.Rejected, false)
	pcltest.Equal(t, "rows left out", r.Skipped, []int{3})
	pcltest.Equal(t, "rows", r.IDs, []int{1, 2})
	pcltest.Equal(t, "samples left out", r.LeftOut, map[int]int{1: 1})
	pcltest.Equal(t, "samples of the first row", r.N[0], r.N[1]-1)
	if slices.Equal(after, before) {
		t.Error("task 2 did not train")
	}
}

// boundless gives weights that no update can be made with.
type boundless struct{ method.Method }

func (boundless) Weights(_ *method.Step, w []float64) (method.Outcome, error) {
	for i := range w {
		w[i] = 1e300
	}
	return method.Outcome{}, nil
}

// TestInfiniteStepIsRejected: the parameters stay, and nothing of the batches enters the memory.
func TestInfiniteStepIsRejected(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 4, 5)
	l := smallLearner(t, b, "", Options{Method: boundless{newMethod(t, "avggrad", nil)}})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	before := must.Get(l.Parameters())(t)
	r := must.Get(l.Step())(t)
	after := must.Get(l.Parameters())(t)
	if !r.Rejected || !slices.Equal(after, before) {
		t.Errorf("a step with ‖d‖ = %g was taken", r.NormD)
	}
	if !slices.Equal(r.Ended, []int{1}) || l.Memory().Len() != 0 {
		t.Errorf("ended %v, %d samples in the memory; want task 1 and none", r.Ended, l.Memory().Len())
	}
}

// TestProgramsOutliveTheirMaker: programs that are closed serve the learners that use them until
// these are closed.
func TestProgramsOutliveTheirMaker(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	programs := NewPrograms(b)
	l := smallLearner(t, b, "emgd-gmc", Options{Programs: programs})
	attach(t, l, blobTask(t, pcltest.Blobs(4, 40, 4), 1, 0, 1))
	programs.Close()
	must.Get(l.Step())(t)
	p := must.Get(l.Snapshot())(t)
	must.Get(p.Predict(make([]float32, 64)))(t)
	p.Close()
	if programs.held.Load() == 0 {
		t.Fatal("the programs were released while a learner uses them")
	}
	if l.Close(); programs.held.Load() != 0 {
		t.Errorf("%d still hold the programs", programs.held.Load())
	}
}
