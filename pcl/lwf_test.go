package pcl

import (
	"fmt"
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestLwFLoss: the loss of a task is its cross-entropy and λ times that of the old model's softened
// outputs, over the outputs of the finished task; computed here from the logits of both models.
func TestLwFLoss(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	const weight, temperature = 0.7, 3.0
	m := newMethod(t, "avggrad+lwf", map[string]any{"weight": weight, "temperature": temperature})
	l := trained(t, b, m, Options{Increment: "class"})
	if _, err := l.Step(); err != nil { // after which both models differ
		t.Fatal(err)
	}
	batch := runningTask(l, 2).current
	must.Do(t, l.targets().set(batch, rehearsal.Loss{}))
	logitsAt := func(point rehearsal.Point) [][]float32 {
		logits, _, err := l.network.programs.Describe(l.network.at(l.network.point(point)), batch, rehearsal.Loss{})
		must.Do(t, err)
		return logits
	}
	now, old, want := logitsAt(rehearsal.Current), logitsAt(rehearsal.Remembered), 0.0
	for i := range batch.N {
		p, q, all := softmax(now[i][:2], temperature), softmax(old[i][:2], temperature), softmax(now[i][:4], 1)
		want -= math.Log(all[batch.Output[i]]) + weight*(q[0]*math.Log(p[0])+q[1]*math.Log(p[1]))
	}
	r := must.Get(l.Step())(t)
	if got := r.Losses[1]; math.Abs(got-want/float64(batch.N)) > 1e-5 {
		t.Errorf("the task's loss is %g, want %g", got, want/float64(batch.N))
	}
}

func softmax(logits []float32, temperature float64) (p []float64) {
	sum := 0.0
	for _, z := range logits {
		p = append(p, math.Exp(float64(z)/temperature))
		sum += p[len(p)-1]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// TestLearntAgain: a class that a new task has in common with one that has ended is learnt from the
// new task's samples, and not held where it was: iCaRL's targets of its output are the labels.
func TestLearntAgain(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 24, 5)
	l := smallLearner(t, b, "icarl", Options{Increment: "class"})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	playOut(t, l)
	attach(t, l, blobTask(t, d, 2, 1, 2))
	must.Get(l.Step())(t)
	batch := runningTask(l, 2).current
	must.Do(t, l.targets().set(batch, lossOf(l.method, 2)))
	outputs := l.options.Model.Outputs()
	for o, want := range []bool{true, false, false} {
		t.Run(fmt.Sprint(want), func(t *testing.T) { // of the classes 0, 1 and 2
			if has := batch.Reference[o] != rehearsal.NoReference; has != want {
				t.Errorf("output %d of %d has the old model's score: %t", o, outputs, has)
			}
		})
	}
}

// TestTeacherOfAdopted: a network that is adopted is the old model of methods that hold on to one.
func TestTeacherOfAdopted(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 24, 5)
	for _, name := range []string{"icarl", "avggrad+lwf", "avggrad"} {
		t.Run(name, func(t *testing.T) {
			old := smallLearner(t, b, name, Options{Increment: "class"})
			attach(t, old, blobTask(t, d, 1, 0, 1))
			playOut(t, old)
			l := smallLearner(t, b, name, Options{Increment: "class"})
			for range 2 { // also where the learner has the tasks already
				must.Do(t, l.SetNetwork(must.Get(old.Network())(t)))
			}
			if has := l.network.auxiliary.remembered != nil; has != (name != "avggrad") {
				t.Errorf("there is an old model: %t", has)
			}
			attach(t, l, blobTask(t, d, 2, 2, 3))
			must.Get(l.Step())(t)
		})
	}
}
