package pcl

import (
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// sparse is a stream of weighted samples of which the first half of each batch has weight 0.
type sparse struct {
	data.Stream
}

func (s sparse) Next(b *data.Batch) error {
	err := s.Stream.Next(b)
	width := len(b.X) / len(b.Class)
	for i := range b.N / 2 {
		b.X[(i+1)*width-1] = 0
	}
	return err
}

// TestHalfWithoutWeight: a rule on halves of batches takes the whole one where a half has no weight.
func TestHalfWithoutWeight(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := regression(t, b, "modo", Options{Weighted: true})
	task := waves{task: 1, weighted: true, n: 80}.asTask(t, 1, 15)
	task.Stream = sparse{task.Stream}
	attach(t, l, task)
	for range 3 {
		r := must.Get(l.Step())(t)
		if len(r.Skipped) > 0 || r.NormD == 0 {
			t.Fatalf("step %d: skipped %v, ‖d‖ = %g", r.Step, r.Skipped, r.NormD)
		}
	}
}

// TestDescendWithoutWeight: a batch of samples of weight 0 leaves the network that is trained apart as it is.
func TestDescendWithoutWeight(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := regression(t, b, "emgd-gmc", Options{Weighted: true})
	task := waves{task: 1, weighted: true, n: 32}.asTask(t, 1, 1)
	task.Stream = sparse{task.Stream}
	attach(t, l, task)
	playOut(t, l)
	p := lab{l: l}
	must.Do(t, p.Restart())
	var none []memory.Item
	for _, it := range stored(lab{l: l}) {
		if it.Pixels[len(it.Pixels)-1] == 0 {
			none = append(none, it)
		}
	}
	if len(none) == 0 {
		t.Fatal("no stored sample has weight 0")
	}
	must.Do(t, p.Descend(none[:1], nil, rehearsal.SGD{LR: 0.1}))
	theta := make([]float32, l.options.Model.Layout().Total)
	if err := program.ToHost(theta, l.others.apart[0]); err != nil || !fp.Finite(theta) {
		t.Errorf("the network is not finite (%v)", err)
	}
}

// TestEditWithoutWeight: stored samples of weight 0 have no loss, so that φ is a mean over the others.
func TestEditWithoutWeight(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := regression(t, b, "emgd-gmc", Options{Weighted: true, Edit: Edit{Eta: 1e-3, Mode: editPerSample}})
	first := waves{task: 1, weighted: true, n: 32}.asTask(t, 1, 1)
	first.Stream = sparse{first.Stream}
	attach(t, l, first)
	playOut(t, l)
	attach(t, l, waves{task: 2, weighted: true, n: 32}.asTask(t, 2, 1))
	r := must.Get(l.Step())(t)
	if r.Edit == nil || !(r.Edit.Phi > 0) || math.IsInf(r.Edit.Phi, 1) {
		t.Errorf("the edit is %+v, want a finite φ", r.Edit)
	}
}

// weightless are test samples whose weights are all one number.
type weightless struct {
	data.Samples
	weight float32
}

func (w weightless) Sample(i int, x []float32) int {
	class := w.Samples.Sample(i, x)
	x[len(x)-1] = w.weight
	return class
}

// TestEvaluateWeights: weights of test samples that make no mean are errors.
func TestEvaluateWeights(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, weight := range []float32{0, -1, float32(math.NaN())} {
		l := regression(t, b, "avggrad", Options{Weighted: true})
		task := waves{task: 1, weighted: true, n: 32}.asTask(t, 1, 1)
		task.Test = weightless{task.Test, weight}
		id := attach(t, l, task)
		refused(t, second(l.EvaluateLoss(id)))
	}
}
