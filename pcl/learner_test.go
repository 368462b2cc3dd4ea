package pcl

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// smallLearner has a 64-16-8 MLP with 6 outputs unless a model is given.
func smallLearner(t testing.TB, b *backend.Backend, name string, o Options) *Learner {
	t.Helper()
	l, err := NewLearner(completed(t, b, name, o))
	if err != nil {
		t.Fatal(err)
	}
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
		net, err := model.NewMLP(64, []int{16, 8}, 6)
		if err != nil {
			t.Fatal(err)
		}
		o.Model = net
	}
	o.Backend, o.Method = b, m
	if o.Increment == "" {
		o.Increment = scenario.TaskIncremental
	}
	if o.Optimizer == nil {
		o.Optimizer = optim.Adam{LR: 0.01}
	}
	if o.Batch == 0 {
		o.Batch = 8
	}
	if o.Memory == (memory.Config{}) {
		o.Memory = memory.Config{Policy: memory.PerClass, Budget: 3}
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
	m, err := method.New(name, params)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func blobTask(t testing.TB, d *datasets.Dataset, id int, classes ...int) Task {
	t.Helper()
	train := d.Select(&d.Train, 0, classes...)
	stream, err := data.NewStream(train, 1, 7, id)
	if err != nil {
		t.Fatal(err)
	}
	return Task{Classes: classes, Stream: stream, Test: d.Select(&d.Test, 0, classes...)}
}

func attach(t testing.TB, l *Learner, task Task) int {
	t.Helper()
	id, err := l.Attach(task)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestStreamsComeAndGo attaches tasks while the learner runs and checks rows, memory, accuracy and
// that nothing is compiled on the way.
func TestStreamsComeAndGo(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		d := pcltest.Blobs(6, 60, 20)
		l := smallLearner(t, b, "emgd-gmc", Options{})
		if _, err := l.Step(); !errors.Is(err, ErrNoStream) {
			t.Fatalf("a step without streams: %v, want ErrNoStream", err)
		}
		if err := l.Warm(4); err != nil {
			t.Fatal(err)
		}
		compiled := l.Compilations()
		var rows []int
		for step := 0; ; step++ {
			switch step {
			case 0:
				attach(t, l, blobTask(t, d, 1, 0, 1))
			case 5:
				attach(t, l, blobTask(t, d, 2, 2, 3))
			case 10:
				attach(t, l, blobTask(t, d, 3, 4, 5))
			}
			r, err := l.Step()
			if errors.Is(err, ErrNoStream) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, len(r.IDs))
		}
		// 120 samples in batches of 8 are 15 steps a task: 0–14, 5–19, 10–24.
		want := []int{1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2}
		if len(rows) != len(want) {
			t.Fatalf("%d steps, want %d", len(rows), len(want))
		}
		for i := range want {
			if rows[i] != want[i] {
				t.Errorf("step %d has %d rows, want %d", i, rows[i], want[i])
			}
		}
		if n := l.Compilations(); n != compiled {
			t.Errorf("%d programs were compiled while streams came and went", n-compiled)
		}
		own := smallLearner(t, b, "avggrad", Options{Programs: NewPrograms(b)})
		n := own.Compilations()
		own.Close()
		own.options.Programs.Close()
		if got := own.Compilations(); n == 0 || got != n {
			t.Errorf("%d programs were compiled, after Close %d", n, got)
		}
		if n := l.Memory().Len(); n != 18 {
			t.Errorf("the memory holds %d samples, want 6 classes × 3", n)
		}
		for id := 1; id <= 3; id++ {
			if acc, err := l.Evaluate(id); err != nil || acc < 0.9 {
				t.Errorf("task %d: accuracy %.2f (%v), want at least 0.9", id, acc, err)
			}
		}
	})
}

// TestUpdateIsWeightedSum checks one SGD step of three streams against the gradients themselves:
// the shared parameters move by Σ wᵢgᵢ, the private ones by Σ gᵢ.
func TestUpdateIsWeightedSum(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		for _, increment := range []scenario.Increment{scenario.TaskIncremental, scenario.ClassIncremental} {
			d := pcltest.Blobs(6, 20, 5)
			l := smallLearner(t, b, "emgd-gmc", Options{Increment: increment, Optimizer: optim.SGD{LR: 0.1}})
			for id := 1; id <= 3; id++ {
				attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
			}
			before, err := l.Parameters()
			if err != nil {
				t.Fatal(err)
			}
			rows := gradients(t, l)
			r, err := l.Step()
			if err != nil {
				t.Fatal(err)
			}
			after, err := l.Parameters()
			if err != nil {
				t.Fatal(err)
			}
			shared := l.programs.Shared
			for i := range rows {
				for j := range rows {
					want := dot(rows[i][:shared], rows[j][:shared])
					if got := r.Gram[3*i+j]; math.Abs(got-want) > 1e-5*math.Sqrt(dot(rows[i][:shared], rows[i][:shared])*dot(rows[j][:shared], rows[j][:shared])) {
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
	s := &step{Learner: l, report: &StepReport{}}
	rows, err := s.memoryRows()
	if err != nil {
		t.Fatal(err)
	}
	s.rows = append(rows, must[[]row](t)(s.taskRows())...)
	if err := s.aimAll(); err != nil {
		t.Fatal(err)
	}
	for i := range s.rows {
		if err := l.differentiateRow(l.programs, l.network.theta, &s.rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	return s.rows
}

// gradients computes each stream's gradient of the batch that the next step will use.
func gradients(t *testing.T, l *Learner) [][]float32 {
	t.Helper()
	var out [][]float32
	for _, r := range differentiated(t, l) {
		g := make([]float32, l.programs.Total())
		if err := r.Flat.ToFlatData(g); err != nil {
			t.Fatal(err)
		}
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

// TestReadoutPathsAgree compares what is read in place with what is read once from the device: losses,
// statistics and Gram matrix.
func TestReadoutPathsAgree(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		d := pcltest.Blobs(6, 20, 5)
		l := smallLearner(t, b, "mgda", Options{Increment: scenario.ClassIncremental, Model: normalised(t)})
		for id := 1; id <= 3; id++ {
			attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
		}
		all := differentiated(t, l)
		for i := range all {
			defer all[i].free()
		}
		read := func(way device.Readout, asked graphs.Products) (m []float64, rows []row) {
			way.Begin(3, asked)
			for i := range all {
				way.Add(&all[i].Gradient)
			}
			m, err := way.Finish()
			if err != nil {
				t.Fatal(err)
			}
			return m, slices.Clone(all)
		}
		a, in := read(device.ReadInPlace(l.programs), graphs.Gram)
		diagonal, _ := read(device.ReadInPlace(l.programs), graphs.Norms)
		for _, asked := range []graphs.Products{graphs.Gram, graphs.Norms, graphs.None} {
			c, on := read(device.ReadOnce(l.programs), asked)
			for i := range in {
				if on[i].Value != in[i].Value || len(in[i].Statistics) == 0 || !slices.Equal(on[i].Statistics, in[i].Statistics) {
					t.Errorf("row %d: losses %g and %g, or its statistics differ", i, in[i].Value, on[i].Value)
				}
			}
			for i, want := range a {
				if asked == graphs.None || asked == graphs.Norms && i%4 != 0 {
					want = 0
				}
				if math.Abs(want-c[i]) > 1e-6*math.Sqrt(a[i/3*4]*a[i%3*4]) {
					t.Errorf("entry %d: in place %g, on the device %g", i, want, c[i])
				}
				if asked == graphs.Norms && (diagonal[i] != want || math.Abs(on[i%3].Private-in[i%3].Private) > 1e-6*in[i%3].Private) {
					t.Errorf("entry %d: in place %g of %g, or the private norms differ", i, diagonal[i], want)
				}
			}
		}
	})
}

// nanStream delivers pixels that are not finite from its third batch on.
type nanStream struct {
	data.Stream
	n int
}

func (s *nanStream) Next(b *data.Batch) error {
	err := s.Stream.Next(b)
	if s.n++; s.n > 2 {
		b.X[0] = float32(math.NaN())
	}
	return err
}

// TestOverflowingGradientIsLeftOut gives a method that never looks at gradients one that overflows, though
// its loss is finite: the other stream trains on.
func TestOverflowingGradientIsLeftOut(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		d := pcltest.Blobs(6, 20, 5)
		l := smallLearner(t, b, "avggrad", Options{})
		attach(t, l, blobTask(t, d, 1, 0, 1))
		attach(t, l, blobTask(t, d, 2, 2, 3))
		before, err := l.Parameters()
		if err != nil {
			t.Fatal(err)
		}
		clear(before[:16]) // what the first pixel is multiplied with
		l.tasks[0].current.X[0] = 3e38
		if err := l.network.set(l.options.Backend, before, nil, len(l.network.state)); err != nil {
			t.Fatal(err)
		}
		r, err := l.Step()
		if err != nil {
			t.Fatal(err)
		}
		after, err := l.Parameters()
		if err != nil {
			t.Fatal(err)
		}
		if r.Rejected || !slices.Equal(r.Skipped, []int{1}) || !slices.Equal(r.IDs, []int{2}) {
			t.Errorf("rejected: %t, left out %v, taken %v; want task 1 left out", r.Rejected, r.Skipped, r.IDs)
		}
		if slices.Equal(after, before) {
			t.Error("task 2 did not train")
		}
	})
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
	before, err := l.Parameters()
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Step()
	if err != nil {
		t.Fatal(err)
	}
	after, err := l.Parameters()
	if err != nil {
		t.Fatal(err)
	}
	if !r.Rejected || !slices.Equal(after, before) {
		t.Errorf("a step with ‖d‖ = %g was taken", r.NormD)
	}
	if !slices.Equal(r.Ended, []int{1}) || l.Memory().Len() != 0 {
		t.Errorf("ended %v, %d samples in the memory; want task 1 and none", r.Ended, l.Memory().Len())
	}
}

// TestNaNStreamIsLeftOut checks that a stream that is not finite neither stops nor poisons the
// others, with a method that sees the Gram matrix and with one that does not.
func TestNaNStreamIsLeftOut(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		for _, name := range []string{"emgd-gmc", "avggrad"} {
			d := pcltest.Blobs(6, 60, 20)
			l := smallLearner(t, b, name, Options{})
			attach(t, l, blobTask(t, d, 1, 0, 1))
			bad := blobTask(t, d, 2, 2, 3)
			bad.Stream = &nanStream{Stream: bad.Stream}
			attach(t, l, bad)
			skipped := 0
			for range 15 {
				r, err := l.Step()
				if err != nil {
					t.Fatal(err)
				}
				skipped += len(r.Skipped)
			}
			if skipped != 13 {
				t.Errorf("%s: %d rows were left out, want 13", name, skipped)
			}
			if acc, err := l.Evaluate(1); err != nil || acc < 0.9 {
				t.Errorf("%s: accuracy beside a NaN stream %.2f (%v)", name, acc, err)
			}
		}
	})
}

// moodyStream delivers one batch that is not finite, then batches of half the size.
type moodyStream struct {
	data.Stream
	n int
}

func (s *moodyStream) Next(b *data.Batch) error {
	if s.n++; s.n == 1 {
		err := s.Stream.Next(b)
		for i := range b.X {
			b.X[i] = float32(math.NaN())
		}
		return err
	}
	half := len(b.Class) / 2
	short := data.Batch{X: b.X[:len(b.X)/2], Class: b.Class[:half]}
	err := s.Stream.Next(&short)
	b.N, b.Repeat = short.N, short.Repeat
	return err
}

// TestPaddingForgets checks that pixels of an earlier batch do not reach a later, shorter one.
func TestPaddingForgets(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		d := pcltest.Blobs(2, 60, 5)
		l := smallLearner(t, b, "mgda", Options{})
		task := blobTask(t, d, 1, 0, 1)
		task.Stream = &moodyStream{Stream: task.Stream}
		attach(t, l, task)
		for step := range 6 {
			r, err := l.Step()
			if err != nil {
				t.Fatal(err)
			}
			if skipped := len(r.Skipped) == 1; skipped != (step == 0) {
				t.Errorf("step %d: left out %v", step, r.Skipped)
			}
		}
	})
}

// muon is the optimiser with most to remember.
var muon = optim.Muon{AdamW: optim.AdamW{Adam: optim.Adam{LR: 0.01}}}

// TestMuonKnowsTheMatrices: the weights of the backbone make orthogonal steps, all other parameters those of AdamW.
func TestMuonKnowsTheMatrices(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		var moves [2][]float32
		var l *Learner
		for i, o := range []optim.Optimizer{muon, muon.AdamW} {
			l = smallLearner(t, b, "avggrad", Options{Optimizer: o})
			attach(t, l, blobTask(t, pcltest.Blobs(6, 20, 5), 1, 0, 1))
			before := must[[]float32](t)(l.Parameters())
			if _, err := l.Step(); err != nil {
				t.Fatal(err)
			}
			moves[i] = must[[]float32](t)(l.Parameters())
			for p := range before {
				moves[i][p] -= before[p]
			}
		}
		layout := l.options.Model.Layout()
		for _, p := range layout.Params {
			got, adam := moves[0][p.Offset:p.Offset+p.Size()], moves[1][p.Offset:p.Offset+p.Size()]
			if len(p.Dims) == 1 || p.Offset >= layout.Backbone {
				if !slices.Equal(got, adam) {
					t.Errorf("%s does not move as with AdamW", p.Name)
				}
				continue
			}
			length := math.Sqrt(dot(got, got)) / (0.2 * 0.01 * math.Sqrt(float64(slices.Max(p.Dims))))
			if most := math.Sqrt(float64(slices.Min(p.Dims))); length > 1.2*most || length < 0.68 {
				t.Errorf("%s moves by %g in units of a matrix with singular values 1, whose length is at most %g", p.Name, length, most)
			}
		}
	})
}

// TestSaveAndLoad takes a learner up in the middle of three overlapping tasks.
func TestSaveAndLoad(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		d := pcltest.Blobs(6, 20, 5)
		task := func(id int) (Task, error) { return blobTask(t, d, id, 2*id-2, 2*id-1), nil }
		path := filepath.Join(t.TempDir(), "learner.pcl")
		finish := func(l *Learner) []float32 {
			for {
				if _, err := l.Step(); errors.Is(err, ErrNoStream) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
			theta, err := l.Parameters()
			if err != nil {
				t.Fatal(err)
			}
			return theta
		}
		l := smallLearner(t, b, "emgd-gmc", Options{Optimizer: muon})
		for id := 1; id <= 3; id++ {
			given, _ := task(id)
			attach(t, l, given)
			if _, err := l.Step(); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Save(path); err != nil {
			t.Fatal(err)
		}
		want := finish(l)
		again := smallLearner(t, b, "emgd-gmc", Options{Optimizer: muon})
		if err := again.Load(path, task); err != nil {
			t.Fatal(err)
		}
		if got := finish(again); !slices.Equal(got, want) {
			t.Error("the loaded learner ends with other parameters")
		}
		other := smallLearner(t, b, "avggrad", Options{Optimizer: muon})
		if err := other.Load(path, task); err == nil {
			t.Error("a learner with another method took the file")
		}
	})
}

// TestProgramsOutliveTheirMaker: programs that are closed serve the learners that use them until these are closed.
func TestProgramsOutliveTheirMaker(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	programs := NewPrograms(b)
	l := smallLearner(t, b, "emgd-gmc", Options{Programs: programs})
	attach(t, l, blobTask(t, pcltest.Blobs(4, 40, 4), 1, 0, 1))
	programs.Close()
	must[*StepReport](t)(l.Step())
	p := must[*Predictor](t)(l.Snapshot())
	must[[]Prediction](t)(p.Predict(make([]float32, 64)))
	p.Close()
	if programs.held.Load() == 0 {
		t.Fatal("the programs were released while a learner uses them")
	}
	if l.Close(); programs.held.Load() != 0 {
		t.Errorf("%d still hold the programs", programs.held.Load())
	}
}
