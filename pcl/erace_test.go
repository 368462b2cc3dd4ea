package pcl

import (
	"errors"
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestERACELosses: the tasks' losses are those of a softmax over their own two outputs, the
// memory's is that over all outputs so far; computed here from the logits.
func TestERACELosses(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	l := trained(t, b, newMethod(t, "avggrad+er-ace", nil), Options{Increment: "class"})
	crossEntropy := func(logits [][]float32, right []int32, lo, hi int) (mean float64) {
		for i, z := range logits {
			sum := 0.0
			for _, x := range z[lo:hi] {
				sum += math.Exp(float64(x))
			}
			mean += (math.Log(sum) - float64(z[right[i]])) / float64(len(logits))
		}
		return mean
	}
	batch := runningTask(l, 2).current
	must.Do(t, l.targets().set(batch, rehearsal.Loss{}))
	logits, _, err := l.network.programs.Describe(l.network.now(), batch, rehearsal.Loss{})
	must.Do(t, err)
	kept := stored(l.context()) // all of them are in the batch
	ofMemory := must.Get(l.context().Logits(rehearsal.Current, kept))(t)
	var right []int32
	for _, it := range kept {
		right = append(right, int32(must.Get(l.tasks.registry.output(it.Task, it.Class))(t)))
	}
	want := []float64{crossEntropy(ofMemory, right, 0, 4), crossEntropy(logits, batch.Output[:batch.N], 2, 4)}
	r := must.Get(l.Step())(t)
	for i := range want {
		if math.Abs(r.Losses[i]-want[i]) > 1e-5 {
			t.Errorf("row %d has loss %g, want %g", r.IDs[i], r.Losses[i], want[i])
		}
	}
}

// TestLossesThatTellTasksApart: a task whose outputs would lie among those of another, since they
// share a class, is refused when it arrives, or comes back after another method has learnt it, by
// methods that could not be trained on it; the others train on.
func TestLossesThatTellTasksApart(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 24, 5)
	for _, name := range []string{"avggrad+er-ace", "mdmtr"} {
		t.Run(name, func(t *testing.T) {
			l := smallLearner(t, b, name, Options{Increment: "class"})
			attach(t, l, blobTask(t, d, 1, 0, 1, 2))
			refused(t, second(l.Attach(blobTask(t, d, 2, 0, 3))), "its outputs lie among those of others")
			attach(t, l, blobTask(t, d, 2, 2, 3)) // next to each other
			must.Get(l.Step())(t)

			plain, taken := smallLearner(t, b, "avggrad", Options{Increment: "class"}),
				smallLearner(t, b, name, Options{Increment: "class"})
			attach(t, plain, blobTask(t, d, 1, 0, 1, 2))
			attach(t, plain, blobTask(t, d, 2, 0, 3))
			must.Do(t, errors.Join(plain.Detach(1, false), plain.Detach(2, false),
				taken.SetNetwork(must.Get(plain.Network())(t))))
			refused(t, taken.Reattach(2, blobTask(t, d, 2, 0, 3)), "its outputs lie among those of others")
			must.Do(t, taken.Reattach(1, blobTask(t, d, 1, 0, 1, 2)))
			must.Get(taken.Step())(t)
		})
	}
}
