package pcl

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	gomlx "github.com/gomlx/gomlx/ml/model"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// phi computes φ of the given samples at θ from gradients alone: ‖∇ℓ − D‖² over the backbone.
func phi(t *testing.T, l *Learner, theta []float32, d []float64, samples []memory.Item) float64 {
	t.Helper()
	if err := l.network.set(l.options.Backend, theta, nil, len(l.network.state)); err != nil {
		t.Fatal(err)
	}
	var g []float32
	if l.options.Edit.Mode == editPerSample {
		g = must[[]float32](t)(lab{l}.Gradient(rehearsal.Now, samples))
	} else {
		loss := l.options.lossOf(method.Memory)
		err := lab{l}.batches(samples, loss, func(h *device.Batch) (err error) {
			g, err = lab{l}.sharedGradient(l.network.theta, h, loss)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sum := 0.0
	for p, x := range d {
		sum += (float64(g[p]) - x) * (float64(g[p]) - x)
	}
	return sum
}

// edited makes one step of a learner with two rows and returns θ before it, D over the backbone, the
// memory's samples before and the report.
func edited(t *testing.T, l *Learner) (theta []float32, d []float64, before []memory.Item, r *StepReport) {
	t.Helper()
	theta = must[[]float32](t)(l.Parameters())
	rows := gradients(t, l)
	for _, it := range stored(lab{l}) {
		it.Pixels = slices.Clone(it.Pixels)
		before = append(before, it)
	}
	r, err := l.Step()
	if err != nil {
		t.Fatal(err)
	}
	if r.Edit == nil || len(r.Edit.Indices) != len(before) {
		t.Fatalf("edit report %+v for %d samples", r.Edit, len(before))
	}
	d = make([]float64, l.options.Model.Layout().Backbone)
	for i, w := range r.Weights {
		for p := range d {
			d[p] += w * float64(rows[i][p])
		}
	}
	return theta, d, before, r
}

// TestSmallEditsLowerPhi: on 30 random cases, a small step of the stored pixels lowers φ, by about
// η‖∇φ‖² where it is not normalised.
func TestSmallEditsLowerPhi(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	programs := NewPrograms(b)
	defer programs.Close()
	lowered := 0
	for seed := range uint64(30) {
		l := trained(t, b, newMethod(t, "emgd-gmc", nil), Options{
			Seed: seed, Edit: Edit{Eta: 1e-4, Norm: "raw", Unclamped: true}, Programs: programs,
		})
		theta, d, before, r := edited(t, l)
		was, is := phi(t, l, theta, d, before), phi(t, l, theta, d, stored(lab{l}))
		square := 0.0
		for _, g := range r.Edit.Gradients {
			for _, x := range g {
				square += float64(x) * float64(x)
			}
		}
		// ∇φ of a sample is that of the batch's φ times the batch size.
		want := 1e-4 * square / float64(len(before))
		if is < was {
			lowered++
		}
		if math.Abs(was-r.Edit.Phi) > 1e-4*was {
			t.Errorf("seed %d: φ is %g, the report says %g", seed, was, r.Edit.Phi)
		}
		if fall := was - is; math.Abs(fall-want) > 0.05*want+2e-6*was {
			t.Errorf("seed %d: φ fell by %g from %g, want about %g", seed, fall, was, want)
		}
		l.Close()
	}
	if lowered != 30 {
		t.Errorf("φ fell in %d of 30 cases", lowered)
	}
}

// normalised is a network of which the features of each sample depend on the statistics of the batch, or the running ones.
func normalised(t *testing.T) model.Model {
	t.Helper()
	return must[*model.Scoped](t)(model.NewScoped("normalised", 64, 6, func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
		return graph.Tanh(model.ScopedBatchNorm(scope.In("norm"), layers.Dense(scope.In("dense"), x, true, 8)))
	}))
}

// TestEditGradient compares ∇φ with central differences of φ, pixel by pixel, of batch and of one sample; of one sample also
// where the network has batch normalisation.
func TestEditGradient(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		for _, mode := range []string{"batch", editPerSample, "normalised"} {
			if mode == "normalised" && b.Info.Name != backend.Go {
				continue
			}
			for _, increment := range []scenario.Increment{scenario.TaskIncremental, scenario.ClassIncremental} {
				o := Options{Increment: increment, Edit: Edit{Eta: 1e-3, Mode: mode}}
				if mode == "normalised" {
					mode, o.Edit.Mode = editPerSample, editPerSample
					o.Model = normalised(t)
				}
				l := trained(t, b, newMethod(t, "emgd-gmc", nil), o)
				theta, d, before, r := edited(t, l)
				rng := rand.New(rand.NewPCG(1, 1))
				largest := 0.0
				for _, g := range r.Edit.Gradients {
					for _, x := range g {
						largest = max(largest, math.Abs(float64(x)))
					}
				}
				for range 12 {
					i, p := rng.IntN(len(before)), rng.IntN(64)
					shifted := func(by float32) float64 {
						moved := slices.Clone(before)
						moved[i].Pixels = slices.Clone(moved[i].Pixels)
						moved[i].Pixels[p] += by
						if mode == editPerSample {
							return phi(t, l, theta, d, moved[i:i+1])
						}
						return phi(t, l, theta, d, moved) * float64(len(moved))
					}
					k := slices.Index(r.Edit.Indices, i)
					const h = 0.01
					want := (shifted(h) - shifted(-h)) / (2 * h)
					if got := float64(r.Edit.Gradients[k][p]); math.Abs(got-want) > 0.02*largest {
						t.Errorf("%s, %s: sample %d, pixel %d: %g, by differences %g (largest %g)", mode, increment, i, p, got, want, largest)
					}
				}
			}
		}
	})
}

// TestNoEditIsNoEdit: with η = 0 the run has the bits of one without editing, whatever else is set.
func TestNoEditIsNoEdit(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	run := func(e Edit) ([]float32, []float32) {
		l := trained(t, b, newMethod(t, "emgd-gmc", nil), Options{Edit: e})
		for range 4 {
			if _, err := l.Step(); err != nil {
				t.Fatal(err)
			}
		}
		return must[[]float32](t)(l.Parameters()), l.Memory().Pixels()
	}
	theta, pixels := run(Edit{})
	sameTheta, samePixels := run(Edit{Mode: "per_sample", MaxDrift: 0.1, Aim: "literal"})
	if !slices.Equal(theta, sameTheta) || !slices.Equal(pixels, samePixels) {
		t.Error("η = 0 changes the run")
	}
	otherTheta, otherPixels := run(Edit{Eta: 0.01})
	if slices.Equal(theta, otherTheta) || slices.Equal(pixels, otherPixels) {
		t.Error("η = 0.01 changes nothing")
	}
}

// TestEditBounds: an RMS step moves a sample by η in the root mean square until a bound stops it; aims
// that differ move apart; every second step edits.
func TestEditBounds(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	step := func(e Edit) (*Learner, *StepReport, []memory.Item) {
		l := trained(t, b, newMethod(t, "emgd-gmc", nil), Options{Edit: e})
		_, _, before, r := edited(t, l)
		return l, r, before
	}
	rms := func(l *Learner, i int) float64 {
		it, sum := l.Memory().Item(i), 0.0
		for p, x := range it.Origin {
			sum += float64((it.Pixels[p] - x) * (it.Pixels[p] - x))
		}
		return math.Sqrt(sum / float64(len(it.Origin)))
	}
	l, r, _ := step(Edit{Eta: 0.01, Unclamped: true})
	if got := rms(l, 0); math.Abs(got-0.01) > 1e-5 {
		t.Errorf("an RMS step of 0.01 moved by %g", got)
	}
	if r.Edit.Change <= 0 || r.Edit.Change > 0.01 {
		t.Errorf("mean |Δx| = %g for RMS steps of 0.01", r.Edit.Change)
	}
	l, _, _ = step(Edit{Eta: 5, MaxDrift: 0.125})
	if mean, largest, n := l.Memory().Drift(); largest > 0.125+1e-6 || mean < 0.1 || n != l.Memory().Len() {
		t.Errorf("a drift of %g, at most %g, of %d samples with the bound 0.125", mean, largest, n)
	}
	l, _, _ = step(Edit{Eta: 5})
	for _, x := range l.Memory().Pixels() {
		if x < 0 || x > 1 {
			t.Fatalf("a pixel of %g", x)
		}
	}
	down, _, _ := step(Edit{Eta: 0.01, Unclamped: true})
	up, _, before := step(Edit{Eta: 0.01, Unclamped: true, Aim: "ascend"})
	for i := range before {
		for p, x := range before[i].Pixels {
			if a, c := down.Memory().Item(i).Pixels[p]-x, up.Memory().Item(i).Pixels[p]-x; math.Abs(float64(a+c)) > 1e-6 {
				t.Fatalf("descending moves pixel %d by %g, ascending by %g", p, a, c)
			}
		}
	}
	l, _, _ = step(Edit{Eta: 0.01, Every: 2}) // step 6
	if r, err := l.Step(); err != nil || r.Edit != nil {
		t.Errorf("step 7 of an edit in every second step: %v, %v", r.Edit, err)
	}
}

// TestPostEdit edits at the updated θ: φ of the report is that of the new gradient and the old D.
func TestPostEdit(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := trained(t, b, newMethod(t, "emgd-gmc", nil), Options{Edit: Edit{Eta: 1e-3, At: "post"}})
	_, d, before, r := edited(t, l)
	after := must[[]float32](t)(l.Parameters())
	if want := phi(t, l, after, d, before); math.Abs(r.Edit.Phi-want) > 1e-4*want {
		t.Errorf("φ = %g, want %g", r.Edit.Phi, want)
	}
}

// TestMeanTarget divides D by Σλ.
func TestMeanTarget(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := trained(t, b, newMethod(t, "emgd-gmc", nil), Options{Edit: Edit{Eta: 1e-3, Target: "mean"}})
	theta, d, before, r := edited(t, l)
	sum := 0.0
	for _, w := range r.Weights {
		sum += w
	}
	for p := range d {
		d[p] /= sum
	}
	if want := phi(t, l, theta, d, before); math.Abs(r.Edit.Phi-want) > 1e-4*want {
		t.Errorf("φ = %g, want %g", r.Edit.Phi, want)
	}
}

// TestMeanTargetOfJoinedRows: where the rule sees the memory's rows as one, Σλ counts that one once.
func TestMeanTargetOfJoinedRows(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := trained(t, b, newMethod(t, "emgd-gmc+der-pp", nil), Options{Edit: Edit{Eta: 1e-3, Target: "mean"}})
	s := &step{Learner: l, report: &StepReport{
		Weights: []float64{2, 2, 3}, Outcome: method.Outcome{Joined: &method.Joined{Weights: []float64{2, 3}}},
	}, rows: make([]row, 3), kept: []int{0, 1, 2}}
	d := must[*aggregate](t)(s.aggregate())
	if want := []float64{2. / 5, 2. / 5, 3. / 5}; !slices.EqualFunc(d.w, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
		t.Errorf("the rows' shares of D are %v, want %v", d.w, want)
	}
}

// TestMeanTargetOfNegativeWeights: D keeps its direction where negative weights outweigh the others, and its length where
// the weights add up to nothing.
func TestMeanTargetOfNegativeWeights(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := trained(t, b, newMethod(t, "emgd-gmc", nil), Options{Edit: Edit{Eta: 1e-3, Target: "mean"}})
	for _, c := range []struct{ weights, want []float64 }{
		{[]float64{-5, 3}, []float64{-2.5, 1.5}}, {[]float64{-5, 5}, []float64{-5, 5}}, {[]float64{0.1 + 0.2, -0.3}, []float64{0.1 + 0.2, -0.3}},
	} {
		s := &step{Learner: l, report: &StepReport{Weights: c.weights}, rows: make([]row, 2), kept: []int{0, 1}}
		if d := must[*aggregate](t)(s.aggregate()); !slices.Equal(d.w, c.want) {
			t.Errorf("of weights %v, D has the shares %v, want %v", c.weights, d.w, c.want)
		}
	}
}

// TestEditWithEveryMethod makes steps with each method: where there are memory rows to train on, their
// pixels move.
func TestEditWithEveryMethod(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	programs := NewPrograms(b)
	defer programs.Close()
	for _, name := range method.Names() {
		m := newMethod(t, name, nil)
		l := trained(t, b, m, Options{Increment: scenario.ClassIncremental, Edit: Edit{Eta: 0.01}, Programs: programs})
		moved := false
		for range 3 {
			r, err := l.Step()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			moved = moved || r.Edit != nil && r.Edit.Change > 0
		}
		idle, _ := method.As[method.Idler](m)
		if want := idle == nil; moved != want {
			t.Errorf("%s: the memory was edited: %v, want %v", name, moved, want)
		}
		l.Close()
	}
}

// TestEditOfResNet edits through convolutions and batch statistics: a small step lowers φ.
func TestEditOfResNet(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 24, 5)
	l := smallLearner(t, b, "avggrad", Options{Model: tinyResNet(t), Edit: Edit{Eta: 1e-6, Unclamped: true}}) // a longer step can cross a kink of a ReLU
	attach(t, l, blobTask(t, d, 1, 0, 1))
	playOut(t, l)
	attach(t, l, blobTask(t, d, 2, 2, 3))
	theta, direction, before, r := edited(t, l)
	was, is := phi(t, l, theta, direction, before), phi(t, l, theta, direction, stored(lab{l}))
	if math.Abs(was-r.Edit.Phi) > 1e-3*was || is >= was {
		t.Errorf("φ went from %g, in the report %g, to %g", was, r.Edit.Phi, is)
	}
}

// TestPostEditObservesOnce: edits at the parameters after the update look at the batches again, which the running
// statistics have taken in already.
func TestPostEditObservesOnce(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 12, 4)
	var statistics [][]float32
	for _, e := range []Edit{{}, {Eta: 1e-3, At: editAfter}} {
		net := must[*model.ResNet18](t)(model.NewResNet18(model.ResNetConfig{Height: 8, Width: 8, Channels: 1, Base: 2, Outputs: 6}))
		l := smallLearner(t, b, "emgd-gmc", Options{Model: net, Edit: e})
		attach(t, l, blobTask(t, d, 1, 0, 1))
		playOut(t, l)
		attach(t, l, blobTask(t, d, 2, 2, 3))
		must[*StepReport](t)(l.Step()) // the first that edits, after its update
		statistics = append(statistics, must[[]float32](t)(l.Statistics()))
	}
	if len(statistics[0]) == 0 || !slices.Equal(statistics[0], statistics[1]) {
		t.Error("the step that edits has other running statistics")
	}
}
