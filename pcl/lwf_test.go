package pcl

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// trajectory returns the parameters after each step of the timeline.
func trajectory(t *testing.T, b *backend.Backend, name string, params map[string]any, o Options) (thetas [][]float32) {
	t.Helper()
	o.Method = newMethod(t, name, params)
	l := smallLearner(t, b, "", o)
	defer l.Close()
	timeline(t, l, func(*StepReport) { thetas = append(thetas, must[[]float32](t)(l.parameters())) })
	return thetas
}

// TestLwFBeforeTheFirstEnd: until a task has ended there is nothing to hold on to, and no bit differs from plain
// replay; with weight 0 none ever does.
func TestLwFBeforeTheFirstEnd(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, increment := range []scenario.Increment{scenario.TaskIncremental, scenario.ClassIncremental} {
		o := Options{Increment: increment}
		plain := trajectory(t, b, "avggrad", nil, o)
		none := trajectory(t, b, "avggrad+lwf", map[string]any{"weight": 0}, o)
		held := trajectory(t, b, "avggrad+lwf", nil, o)
		for step := range plain { // the first task ends in step 5; in step 6 the old model is still the present one
			if !slices.Equal(none[step], plain[step]) || step != 6 && slices.Equal(held[step], plain[step]) != (step <= 5) {
				t.Errorf("%s, step %d: with weight 0 equal: %t, with weight 1: %t", increment, step, slices.Equal(none[step], plain[step]), slices.Equal(held[step], plain[step]))
			}
		}
	}
}

// TestLwFLoss: the loss of a task is its cross-entropy and λ times that of the old model's softened outputs, over the
// outputs of the finished task; computed here from the logits of both models.
func TestLwFLoss(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	const weight, temperature = 0.7, 3.0
	m := newMethod(t, "avggrad+lwf", map[string]any{"weight": weight, "temperature": temperature})
	l := trained(t, b, m, Options{Increment: scenario.ClassIncremental})
	if _, err := l.Step(); err != nil { // after which both models differ
		t.Fatal(err)
	}
	batch := runningTask(l, 2).current
	if err := l.aim(batch, rehearsal.Loss{}); err != nil {
		t.Fatal(err)
	}
	logitsAt := func(point rehearsal.Point) [][]float32 {
		logits, _, err := l.describeAt(lab{l}.at(point), batch, rehearsal.Loss{})
		if err != nil {
			t.Fatal(err)
		}
		return logits
	}
	now, old, want := logitsAt(rehearsal.Now), logitsAt(rehearsal.Remembered), 0.0
	for i := range batch.N {
		p, q, all := softmax(now[i][:2], temperature), softmax(old[i][:2], temperature), softmax(now[i][:4], 1)
		want -= math.Log(all[batch.Output[i]]) + weight*(q[0]*math.Log(p[0])+q[1]*math.Log(p[1]))
	}
	r, err := l.Step()
	if err != nil {
		t.Fatal(err)
	}
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

// TestLwFHoldsOn: without a memory, what the model says of the other tasks' samples moves less, for the outputs of the
// task that has ended.
func TestLwFHoldsOn(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	d := pcltest.Blobs(6, 24, 5)
	var moved [2]float64
	for i, weight := range []float64{0, 10} {
		m := newMethod(t, "avggrad+lwf", map[string]any{"weight": weight})
		l := smallLearner(t, b, "", Options{Method: m, Memory: memory.Config{Policy: memory.PerClass}, Optimizer: optim.SGD{LR: 0.1}})
		other := d.Select(&d.Test, 0, 2, 3)
		items := make([]memory.Item, other.Len())
		for k := range items {
			items[k] = memory.Item{Task: 2, Pixels: make([]float32, 64)}
			items[k].Class = other.Sample(k, items[k].Pixels)
		}
		logits := func() [][]float32 { return must[[][]float32](t)(lab{l}.Logits(rehearsal.Now, items)) }
		var before [][]float32
		timeline(t, l, func(r *StepReport) {
			if slices.Contains(r.Ended, 1) {
				before = logits()
			}
		})
		for k, after := range logits() {
			moved[i] += math.Abs(float64(after[0]-after[1]-before[k][0]+before[k][1])) / float64(len(items))
		}
	}
	if moved[1] > 0.8*moved[0] {
		t.Errorf("what the first task's outputs say moved by %.3f with lwf, by %.3f without", moved[1], moved[0])
	}
}

// TestLearntAgain: a class that a new task has in common with one that has ended is learnt from the new task's samples, and
// not held where it was: iCaRL's targets of its output are the labels.
func TestLearntAgain(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 24, 5)
	l := smallLearner(t, b, "icarl", Options{Increment: scenario.ClassIncremental})
	attach(t, l, blobTask(t, d, 1, 0, 1))
	playOut(t, l)
	attach(t, l, blobTask(t, d, 2, 1, 2))
	must[*StepReport](t)(l.Step())
	batch := runningTask(l, 2).current
	if err := l.teach(batch, l.options.lossOf(2)); err != nil {
		t.Fatal(err)
	}
	outputs := l.options.Model.Outputs()
	for o, want := range []bool{true, false, false} { // of the classes 0, 1 and 2
		if has := batch.Reference[o] != model.NoReference; has != want {
			t.Errorf("output %d of %d has the old model's score: %t", o, outputs, has)
		}
	}
}

// TestTeacherOfAdopted: a network that is adopted is the old model of methods that hold on to one.
func TestTeacherOfAdopted(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 24, 5)
	for _, name := range []string{"icarl", "avggrad+lwf", "avggrad"} {
		old := smallLearner(t, b, name, Options{Increment: scenario.ClassIncremental})
		attach(t, old, blobTask(t, d, 1, 0, 1))
		playOut(t, old)
		l := smallLearner(t, b, name, Options{Increment: scenario.ClassIncremental})
		for range 2 { // also where the learner has the tasks already
			if err := l.SetTrained(must[*Trained](t)(old.Trained()), Take{}); err != nil {
				t.Fatal(err)
			}
		}
		if has := l.others.remembered != nil; has != (name != "avggrad") {
			t.Errorf("%s: there is an old model: %t", name, has)
		}
		attach(t, l, blobTask(t, d, 2, 2, 3))
		must[*StepReport](t)(l.Step())
	}
}
