package pcl

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	gomlx "github.com/gomlx/gomlx/ml/model"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// phi computes φ of the given samples at θ from gradients alone: ‖∇ℓ − D‖² over the backbone.
func phi(t *testing.T, l *Learner, theta []float32, d []float64, samples []memory.Item) float64 {
	t.Helper()
	must.Do(t, l.network.begin(theta))
	var g []float32
	if l.options.Edit.Mode == "per_sample" {
		g = must.Get(l.context().Gradient(rehearsal.Current, samples))(t)
	} else {
		loss := lossOf(l.method, method.MemoryID)
		must.Do(t, l.context().batches(samples, loss, func(h *device.Batch) error {
			var err error
			g, err = l.context().sharedGradient(device.At{Theta: l.network.theta}, h, loss)
			return err
		}))
	}
	sum := 0.0
	for p, x := range d {
		sum += (float64(g[p]) - x) * (float64(g[p]) - x)
	}
	return sum
}

// edited makes one step of a learner with two rows and returns θ before it, D over the backbone,
// the memory's samples before and the report.
func edited(t *testing.T, l *Learner) (theta []float32, d []float64, before []memory.Item, r *StepReport) {
	t.Helper()
	theta = must.Get(l.Parameters())(t)
	rows := gradients(t, l)
	for _, it := range stored(l.context()) {
		it.Pixels = slices.Clone(it.Pixels)
		before = append(before, it)
	}
	r = must.Get(l.Step())(t)
	if r.Edit == nil {
		t.Fatal("the step has no report of an edit")
	}
	if len(r.Edit.Indices) != len(before) {
		t.Fatalf("%d samples were edited; want %d", len(r.Edit.Indices), len(before))
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
		was, is := phi(t, l, theta, d, before), phi(t, l, theta, d, stored(l.context()))
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

// normalised is a network of which the features of each sample depend on the statistics of the
// batch, or the running ones.
func normalised(t *testing.T) model.Model {
	t.Helper()
	return must.Get(model.NewScoped("normalised", 64, 6, func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
		return graph.Tanh(model.ScopedBatchNorm(scope.In("norm"), layers.Dense(scope.In("dense"), x, true, 8)))
	}))(t)
}

// TestEditGradient compares ∇φ with central differences of φ, pixel by pixel, of batch and of one
// sample; of one sample also where the network has batch normalisation.
func TestEditGradient(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		for _, mode := range []string{"batch", "per_sample", "normalised"} {
			if mode == "normalised" && b.Info.Name != backend.Go {
				continue
			}
			for _, increment := range []string{"task", "class"} {
				o := Options{Increment: increment, Edit: Edit{Eta: 1e-3, Mode: mode}}
				if mode == "normalised" {
					mode, o.Edit.Mode = "per_sample", "per_sample"
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
						if mode == "per_sample" {
							return phi(t, l, theta, d, moved[i:i+1])
						}
						return phi(t, l, theta, d, moved) * float64(len(moved))
					}
					k := slices.Index(r.Edit.Indices, i)
					const h = 0.01
					want := (shifted(h) - shifted(-h)) / (2 * h)
					if got := float64(r.Edit.Gradients[k][p]); math.Abs(got-want) > 0.02*largest {
						t.Errorf("%s, %s: sample %d, pixel %d: %g, by differences %g (largest %g)",
							mode, increment, i, p, got, want, largest)
					}
				}
			}
		}
	})
}

// TestEditBounds: an RMS step moves a sample by η in the root mean square until a bound stops it;
// aims that differ move apart; every second step edits.
func TestEditBounds(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	step := func(e Edit) (*Learner, *StepReport, []memory.Item) {
		l := trained(t, b, newMethod(t, "emgd-gmc", nil), Options{Edit: e})
		_, _, before, r := edited(t, l)
		return l, r, before
	}
	rms := func(l *Learner, i int) float64 {
		it, sum := l.Memory().Item(i), 0.0
		for p, x := range it.Original {
			sum += float64((it.Pixels[p] - x) * (it.Pixels[p] - x))
		}
		return math.Sqrt(sum / float64(len(it.Original)))
	}
	l, r, _ := step(Edit{Eta: 0.01, Unclamped: true})
	if got := rms(l, 0); math.Abs(got-0.01) > 1e-5 {
		t.Errorf("an RMS step of 0.01 moved by %g", got)
	}
	if r.Edit.Change <= 0 || r.Edit.Change > 0.01 {
		t.Errorf("mean |Δx| = %g for RMS steps of 0.01", r.Edit.Change)
	}
	l, _, _ = step(Edit{Eta: 5, MaxDrift: 0.125})
	for _, it := range l.Memory().Samples() {
		drift := 0.0
		for p, x := range it.Original {
			drift = max(drift, math.Abs(float64(it.Pixels[p]-x)))
		}
		if drift > 0.125+1e-6 || drift < 0.01 {
			t.Errorf("a drift of %g with the bound 0.125", drift)
		}
	}
	l, _, _ = step(Edit{Eta: 5})
	for _, x := range pixels(l) {
		if x < 0 || x > 1 {
			t.Fatalf("a pixel of %g", x)
		}
	}
	down, _, _ := step(Edit{Eta: 0.01, Unclamped: true})
	up, _, before := step(Edit{Eta: 0.01, Unclamped: true, Direction: "ascend"})
	for i := range before {
		for p, x := range before[i].Pixels {
			if a, c := down.Memory().Item(i).Pixels[p]-x, up.Memory().Item(i).Pixels[p]-x; math.Abs(float64(a+c)) > 1e-6 {
				t.Fatalf("descending moves pixel %d by %g, ascending by %g", p, a, c)
			}
		}
	}
	l, _, _ = step(Edit{Eta: 0.01, Every: 2}) // step 6
	if r := must.Get(l.Step())(t); r.Edit != nil {
		t.Errorf("step 7 edits %d samples; want an edit in every second step", len(r.Edit.Indices))
	}
}

// TestEditTargets: φ of the report is at the updated θ where edits follow the update, and its D is
// divided by Σλ where that is the target.
func TestEditTargets(t *testing.T) {
	for _, e := range []Edit{{Eta: 1e-3, At: "post"}, {Eta: 1e-3, Target: "mean"}} {
		l := trained(t, pcltest.Backend(t, backend.Go), newMethod(t, "emgd-gmc", nil), Options{Edit: e})
		theta, d, before, r := edited(t, l)
		sum := 0.0
		for _, w := range r.Weights {
			sum += w
		}
		if e.At == "post" {
			theta, sum = must.Get(l.Parameters())(t), 1
		}
		for p := range d {
			d[p] /= sum
		}
		if want := phi(t, l, theta, d, before); math.Abs(r.Edit.Phi-want) > 1e-4*want {
			t.Errorf("%+v: φ = %g, want %g", e, r.Edit.Phi, want)
		}
	}
}

// TestMeanTarget: where the rule sees the memory's rows as one, Σλ counts that one once; D keeps
// its direction where negative weights outweigh the others, and its length where the weights add up
// to nothing.
func TestMeanTarget(t *testing.T) {
	l := trained(t, pcltest.Backend(t, backend.Go), newMethod(t, "emgd-gmc", nil),
		Options{Edit: Edit{Eta: 1e-3, Target: "mean"}})
	for _, c := range []struct{ weights, joined, want []float64 }{
		{[]float64{2, 2, 3}, []float64{2, 3}, []float64{2. / 5, 2. / 5, 3. / 5}},
		{[]float64{-5, 3}, nil, []float64{-2.5, 1.5}}, {[]float64{-5, 5}, nil, []float64{-5, 5}},
		{[]float64{0.1 + 0.2, -0.3}, nil, []float64{0.1 + 0.2, -0.3}},
	} {
		s := l.newStep()
		s.report.Weights = c.weights
		if c.joined != nil {
			s.report.Outcome.Summed = &method.Summed{Weights: c.joined}
		}
		for i := range c.weights {
			s.rows, s.kept = append(s.rows, row{}), append(s.kept, i)
		}
		if d := must.Get(s.aggregate())(t); !slices.EqualFunc(d.w, c.want, func(a, b float64) bool {
			return math.Abs(a-b) < 1e-15
		}) {
			t.Errorf("of weights %v, D has the shares %v, want %v", c.weights, d.w, c.want)
		}
	}
}

// TestEditOfResNet edits through convolutions and batch statistics: a small step lowers φ.
func TestEditOfResNet(t *testing.T) {
	// a longer step can cross a kink of a ReLU
	l := trained(t, pcltest.Backend(t, backend.Go), newMethod(t, "avggrad", nil),
		Options{Model: tinyResNet(t), Edit: Edit{Eta: 1e-6, Unclamped: true}})
	theta, direction, before, r := edited(t, l)
	was, is := phi(t, l, theta, direction, before), phi(t, l, theta, direction, stored(l.context()))
	if math.Abs(was-r.Edit.Phi) > 1e-3*was || is >= was {
		t.Errorf("φ went from %g, in the report %g, to %g", was, r.Edit.Phi, is)
	}
}

// TestPostEditObservesOnce: edits at the parameters after the update look at the batches again,
// which the running statistics have taken in already.
func TestPostEditObservesOnce(t *testing.T) {
	var statistics [2][]float32
	for i, e := range []Edit{{}, {Eta: 1e-3, At: "post", Mode: "per_sample"}} {
		l := trained(t, pcltest.Backend(t, backend.Go), newMethod(t, "emgd-gmc", nil), Options{Model: normalised(t), Edit: e})
		steps(t, l, 1) // the first that edits, after its update
		statistics[i] = must.Get(l.Statistics())(t)
	}
	if len(statistics[0]) == 0 || !slices.Equal(statistics[0], statistics[1]) {
		t.Error("the step that edits has other running statistics")
	}
}
