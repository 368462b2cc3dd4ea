package pcl

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestAdjustedLoss: the memory holds 3 samples of each of two classes, and two running tasks have
// one and three classes; the losses are computed here from the logits.
func TestAdjustedLoss(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	const tau = 0.7
	l := trained(t, b, newMethod(t, "avggrad+las", map[string]any{"tau": tau}), Options{Increment: "class"})
	d := pcltest.Blobs(6, 24, 5)
	attach(t, l, blobTask(t, d, 3, 3, 4, 5)) // it shares class 3 with task 2, which has 2 and 3
	share := []float64{1. / 2, 1. / 2, 1. / 2, 1./2 + 1./3, 1. / 3, 1. / 3}
	loss := func(row int) (mean float64) {
		batch := runningTask(l, row+1).current
		must.Do(t, l.targets().set(batch, rehearsal.Loss{}))
		logits, _, err := l.network.programs.Describe(l.network.now(), batch, rehearsal.Loss{})
		must.Do(t, err)
		for i := range batch.N {
			sum := 0.0
			for o, x := range share {
				sum += math.Exp(float64(logits[i][o])) * math.Pow(x, tau)
			}
			right := batch.Output[i]
			mean += (math.Log(sum) - float64(logits[i][right]) - tau*math.Log(share[right])) / float64(batch.N)
		}
		return mean
	}
	want := []float64{loss(1), loss(2)}
	r := must.Get(l.Step())(t)
	for i, x := range want {
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			if math.Abs(r.Losses[1+i]-x) > 1e-5 {
				t.Errorf("row %d has loss %g, want %g", r.IDs[1+i], r.Losses[1+i], x)
			}
		})
	}
}

// TestAbsentClasses: a class of a task that was dropped, with nothing kept, competes no more.
func TestAbsentClasses(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := trained(t, b, newMethod(t, "avggrad+las", nil), Options{Increment: "class"})
	must.Do(t, l.Detach(2, false))
	attach(t, l, blobTask(t, pcltest.Blobs(6, 24, 5), 3, 4, 5))
	got := l.targets().adjustments(1)
	for o, want := range []float64{math.Log(.5), math.Log(.5), excluded, excluded, math.Log(.5), math.Log(.5)} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			if math.Abs(float64(got[o])-want) > 1e-5 {
				t.Errorf("output %d is adjusted by %g, want %g", o, got[o], want)
			}
		})
	}
	if got := l.targets().adjustments(0.01); got[2] != excluded || got[3] != excluded {
		t.Errorf("with a small τ, classes without samples are adjusted by %v", got[2:4])
	}
	if got := l.targets().adjustments(0); slices.ContainsFunc(got, func(x float32) bool { return x != 0 }) {
		t.Errorf("with τ = 0, outputs are adjusted by %v", got)
	}
	must.Get(l.Step())(t)
}

// TestAdjustedToWhatIsReplayed: the adjustments follow what a part replays. per-task replays a
// batch of each finished task. balanced replays equally many samples of each class, however many
// are stored, unless everything that is stored fits into one batch.
func TestAdjustedToWhatIsReplayed(t *testing.T) {
	equal := func(map[int]int, int) float64 { return .5 }
	for _, c := range []struct {
		name   string
		budget memory.Config
		share  func(stored map[int]int, class int) float64 // of a class; those of the running task have ½ more
	}{
		{"avggrad+las+per-task", memory.Config{}, equal},
		// the memory has samples of the running task, which are not replayed
		{"avggrad+las+per-task+greedy", memory.Config{}, equal},
		{"avggrad+las+balanced+gss", memory.Config{Policy: "fixed_total", Budget: 13},
			func(stored map[int]int, class int) float64 {
				return float64(min(stored[class], 1)) / float64(len(stored))
			}},
		{"avggrad+las+balanced+gss", memory.Config{Policy: "fixed_total", Budget: 7},
			func(stored map[int]int, class int) float64 {
				return float64(stored[class]) / 7
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := smallLearner(t, pcltest.Backend(t, backend.Go), c.name, Options{Increment: "class", Memory: c.budget})
			d := pcltest.Blobs(6, 24, 5)
			for id := 1; id <= 2; id++ {
				attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
				playOut(t, l)
			}
			attach(t, l, blobTask(t, d, 3, 4, 5))
			steps(t, l, 1)
			stored := map[int]int{}
			for _, it := range l.memory.Samples() {
				stored[it.Class]++
			}
			for o, x := range l.targets().adjustments(1) {
				want := c.share(stored, o)
				if o >= 4 && c.budget.Budget > 0 {
					want += .5
				}
				if math.Abs(math.Exp(float64(x))-want) > 1e-5 {
					t.Errorf("output %d has a share of %g, want %g; stored are %v", o, math.Exp(float64(x)), want, stored)
				}
			}
		})
	}
}

// TestAdjustedToBatches: a task whose stream was not ready, and then ended without another batch,
// has no part of its last step.
func TestAdjustedToBatches(t *testing.T) {
	l := smallLearner(t, pcltest.Backend(t, backend.Go), "avggrad+las", Options{Increment: "class"})
	attach(t, l, blobTask(t, pcltest.Blobs(4, 24, 5), 1, 0, 1))
	p := newPush(t, 2, 3)
	attach(t, l, Task{Classes: []int{2, 3}, Stream: p})
	must.Get(l.Step())(t)
	p.End()
	var adjusted []float32
	l.options.Trace = func(s *Trace) error {
		adjusted = slices.Clone(s.Reference[0][:4])
		return nil
	}
	r := must.Get(l.Step())(t)
	if !slices.Equal(r.IDs, []int{1}) || !slices.Equal(r.Ended, []int{2}) {
		t.Fatalf("a step of %v in which %v ended", r.IDs, r.Ended)
	}
	for o, want := range []float64{math.Log(.5), math.Log(.5), excluded, excluded} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			if math.Abs(float64(adjusted[o])-want) > 1e-4 {
				t.Errorf("output %d is adjusted by %g, want %g", o, adjusted[o], want)
			}
		})
	}
}

// TestAdjustedApart: a network that is trained on the memory alone is adjusted to what is stored,
// whichever tasks took part in the last step, so that a learner that was loaded predicts what the
// saved one does.
func TestAdjustedApart(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(4, 24, 5)
	learner := func() *Learner {
		m := newMethod(t, "avggrad+las+gdumb", map[string]any{"passes": 2})
		return smallLearner(t, b, "", Options{Method: m, Increment: "class"})
	}
	task := pairs(t, d)
	saved, loaded := learner(), learner()
	for id := 1; id <= 2; id++ {
		attach(t, saved, must.Get(task(id))(t))
	}
	must.Get(saved.Step())(t)
	must.Do(t, saved.Pause(2))
	must.Get(saved.Step())(t)
	must.Do(t, loaded.Restore(must.Get(saved.State())(t), task))
	x, _ := flat(d.Select(&d.Test, 0, 0, 1, 2, 3), 64)
	want, got := must.Get(saved.Predict(x))(t), must.Get(loaded.Predict(x))(t)
	for i := range want {
		if !slices.Equal(got[i].Probabilities, want[i].Probabilities) {
			t.Fatalf("sample %d: %v, the saved learner has %v", i, got[i].Probabilities, want[i].Probabilities)
		}
	}
	stored, total := [4]float64{}, float64(saved.memory.Len())
	for _, it := range saved.memory.Samples() {
		stored[it.Class] += 1 / total
	}
	for o, x := range saved.targets().adjustmentsDetached(1)[:4] {
		if math.Abs(float64(x)-math.Log(stored[o])) > 1e-5 {
			t.Errorf("output %d is adjusted by %g, and has the share %g of what is stored", o, x, stored[o])
		}
	}
}
