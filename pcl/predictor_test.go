package pcl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// flat returns the values and classes of samples.
func flat(s data.Samples, inputs int) (x []float32, class []int) {
	x = make([]float32, s.Len()*inputs)
	for i := range s.Len() {
		class = append(class, s.Sample(i, x[i*inputs:(i+1)*inputs]))
	}
	return x, class
}

// predictedRight counts what a predictor predicts correctly of a task's test samples, all at once and one by one.
func predictedRight(t *testing.T, p *Predictor, increment scenario.Increment, id int, s data.Samples) (batched, single map[int]int) {
	t.Helper()
	predict := func(x []float32) []Prediction {
		if increment == scenario.TaskIncremental {
			return must[[]Prediction](t)(p.PredictTask(id, x))
		}
		return must[[]Prediction](t)(p.Predict(x))
	}
	x, class := flat(s, 64)
	batched, single = map[int]int{}, map[int]int{}
	for i, q := range predict(x) {
		one := predict(x[i*64 : (i+1)*64])[0]
		total, best := 0.0, 0
		for k, prob := range q.Probabilities {
			if total += prob; prob > q.Probabilities[best] {
				best = k
			}
			if math.Abs(prob-one.Probabilities[k]) > 1e-4 {
				t.Errorf("sample %d: alone it has probability %g of class %d, in a batch %g", i, one.Probabilities[k], q.Classes[k], prob)
			}
		}
		if math.Abs(total-1) > 1e-9 || q.Classes[best] != q.Class {
			t.Fatalf("sample %d: %+v", i, q)
		}
		if q.Class == class[i] {
			batched[class[i]]++
		}
		if one.Class == class[i] {
			single[class[i]]++
		}
	}
	return batched, single
}

// TestPredictorIsEvaluation: a snapshot predicts what the learner's own evaluation predicts, with logits, cosines,
// nearest means, batch normalisation and a network trained for predictions, while tasks run and after their end.
func TestPredictorIsEvaluation(t *testing.T) {
	net, err := model.NewResNet18(model.ResNetConfig{Height: 8, Width: 8, Channels: 1, Base: 2, Outputs: 6})
	if err != nil {
		t.Fatal(err)
	}
	b := pcltest.Backend(t, backend.Go)
	programs := NewPrograms(b)
	defer programs.Close()
	for _, c := range []struct {
		method    string
		increment scenario.Increment
		params    map[string]any
		model     model.Model
	}{
		{method: "emgd-gmc", increment: scenario.TaskIncremental},
		{method: "icarl", increment: scenario.TaskIncremental},
		{method: "emgd-gmc", increment: scenario.ClassIncremental},
		{method: "emgd", increment: scenario.ClassIncremental},
		{method: "icarl", increment: scenario.ClassIncremental},
		{method: "mdmtr", increment: scenario.ClassIncremental},
		{method: "avggrad+ncm", increment: scenario.ClassIncremental, params: map[string]any{"where": "between-tasks"}},
		{method: "gdumb", increment: scenario.ClassIncremental, params: map[string]any{"passes": 2.0}},
		{method: "avggrad", increment: scenario.ClassIncremental, model: net}, // batch normalisation
	} {
		increment, tasks := c.increment, 3
		if c.model != nil {
			if b.Info.Name != backend.Go {
				continue // compiling it takes minutes
			}
			tasks = 1 // it is slow
		}
		t.Run(c.method+"/"+string(increment), func(t *testing.T) {
			d := pcltest.Blobs(6, 12, 5)
			l := smallLearner(t, b, "", Options{Method: newMethod(t, c.method, c.params), Increment: increment, Model: c.model, Programs: programs})
			for id := 1; id <= tasks; id++ {
				attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
				for range 2 {
					must[*StepReport](t)(l.Step())
				}
				p := must[*Predictor](t)(l.Snapshot())
				for of := 1; of <= id; of++ {
					test := d.Select(&d.Test, 0, 2*of-2, 2*of-1)
					batched, single := predictedRight(t, p, increment, of, test)
					for _, count := range must[[]ClassCount](t)(l.EvaluateByClass(of)) {
						if batched[count.Class] != count.Right || single[count.Class] != count.Right {
							t.Errorf("%s, %s, step %d, class %d: %d are right in the evaluation, %d and, one by one, %d in the snapshot", c.method, increment, l.Steps(), count.Class, count.Right, batched[count.Class], single[count.Class])
						}
					}
				}
				p.Close()
			}
		})
	}
}

// TestPredictorStaysAsItIs: a snapshot predicts the same while the learner trains, from many goroutines, and after the
// learner was closed; the learner's own predictions follow it.
func TestPredictorStaysAsItIs(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		d := pcltest.Blobs(4, 80, 10)
		l := smallLearner(t, b, "emgd-gmc", Options{Increment: scenario.ClassIncremental, Programs: NewPrograms(b)})
		l.own = l.options.Programs // closed with the learner
		attach(t, l, blobTask(t, d, 1, 0, 1))
		must[*StepReport](t)(l.Step())
		p := must[*Predictor](t)(l.Snapshot())
		x, _ := flat(d.Select(&d.Test, 0, 0, 1, 2, 3), 64)
		want := must[[]Prediction](t)(p.Predict(x))
		attach(t, l, blobTask(t, d, 2, 2, 3))
		var all sync.WaitGroup
		stop := make(chan struct{})
		for range 3 {
			all.Go(func() {
				for {
					got, err := p.Predict(x)
					if err != nil {
						t.Error(err)
						return
					}
					for i := range got {
						if got[i].Class != want[i].Class || !slices.Equal(got[i].Probabilities, want[i].Probabilities) {
							t.Errorf("sample %d is now %+v, was %+v", i, got[i], want[i])
							return
						}
					}
					if _, err := l.Predict(x[:64]); err != nil {
						t.Error(err)
						return
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
		}
		for range 10 {
			_, err := l.Step()
			if err != nil {
				t.Error(err)
			}
		}
		close(stop)
		all.Wait()
		if now := must[[]Prediction](t)(l.Predict(x)); !slices.Equal(now[0].Classes, []int{0, 1, 2, 3}) || slices.Equal(now[0].Probabilities[:2], want[0].Probabilities) {
			t.Errorf("the learner predicts %+v", now[0])
		}
		if !slices.Equal(p.Classes(), []int{0, 1}) || !slices.Equal(l.Classes(), []int{0, 1, 2, 3}) || p.Steps() != 1 {
			t.Errorf("classes %v and %v, %d steps", p.Classes(), l.Classes(), p.Steps())
		}
		l.Close()
		got := must[[]Prediction](t)(p.Predict(x))
		if !slices.Equal(got[3].Probabilities, want[3].Probabilities) {
			t.Errorf("after Close %+v, was %+v", got[3], want[3])
		}
		if _, err := l.Predict(x); !errors.Is(err, ErrClosed) {
			t.Errorf("a closed learner: %v", err)
		}
		if _, err := l.Snapshot(); !errors.Is(err, ErrClosed) {
			t.Errorf("a closed learner: %v", err)
		}
		p.Close()
		p.Close()
		if _, err := p.Predict(x); !errors.Is(err, ErrClosed) {
			t.Errorf("a closed predictor: %v", err)
		}
		if n := l.own.held.Load(); n != 0 {
			t.Errorf("the programs are still held by %d", n)
		}
	})
}

// TestPredictRefuses: what cannot be predicted is an error that names it.
func TestPredictRefuses(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 12, 2)
	class := smallLearner(t, b, "avggrad", Options{Increment: scenario.ClassIncremental})
	task := smallLearner(t, b, "avggrad", Options{})
	x := make([]float32, 128)
	check := func(what, want string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: error %v, want one about %q", what, err, want)
		}
	}
	_, err := class.Predict(x)
	check("no task", "no task has arrived", err)
	for _, l := range []*Learner{class, task} {
		attach(t, l, blobTask(t, d, 1, 4, 1))
		attach(t, l, blobTask(t, d, 2, 3, 0))
	}
	attach(t, task, blobTask(t, d, 3, 0, 3))
	p, q := must[*Predictor](t)(class.Snapshot()), must[*Predictor](t)(task.Snapshot())
	defer p.Close()
	defer q.Close()
	_, err = p.Predict(x[:100])
	check("half a sample", "100 values", err)
	_, err = p.Predict(nil)
	check("no sample", "0 values", err)
	_, err = p.Predict(x, 4, 7)
	check("unknown class", "class 7", err)
	_, err = p.Predict(x, 4, 1, 4)
	check("class twice", "class 4 is given twice", err)
	_, err = p.PredictTask(3, x)
	check("unknown task", "no task 3", err)
	_, err = q.Predict(x)
	check("no task named", "by its number or its classes", err)
	_, err = q.Predict(x, 0)
	check("classes of two tasks", "[2 3]", err)
	_, err = q.Predict(x, 0, 4)
	check("classes of no task", "no task has all", err)
	x[70] = float32(math.Inf(1))
	_, err = p.Predict(x)
	check("not finite", "sample 1 has a value", err)
	for i := range x[64:] {
		x[64+i] = math.MaxFloat32
	}
	_, err = p.Predict(x)
	check("overflow", "sample 1: the score", err)
	clear(x)
	if got := must[[]Prediction](t)(p.Predict(x, 3, 4)); len(got) != 2 || !slices.Equal(got[0].Classes, []int{4, 3}) {
		t.Errorf("among two: %+v", got)
	}
	if got := must[[]Prediction](t)(q.Predict(x, 1)); got[0].Class != 1 || got[0].Probabilities[0] != 1 {
		t.Errorf("among one: %+v", got[0])
	}
	if got := must[[]Prediction](t)(q.PredictTask(3, x)); !slices.Equal(got[0].Classes, []int{0, 3}) {
		t.Errorf("of task 3: %+v", got[0])
	}
}

// BenchmarkPredict measures predictions beside nothing else.
func BenchmarkPredict(b *testing.B) {
	for _, name := range []string{backend.XLACPU, backend.Go} {
		l := smallLearner(b, pcltest.Backend(b, name), "avggrad", Options{Increment: scenario.ClassIncremental, Batch: 128})
		attach(b, l, blobTask(b, pcltest.Blobs(6, 12, 2), 1, 0, 1, 2))
		p, err := l.Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{1, 128} {
			x := make([]float32, n*64)
			b.Run(name+"/"+map[int]string{1: "one", 128: "batch"}[n], func(b *testing.B) {
				for b.Loop() {
					if _, err := p.Predict(x); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkPredictBeside measures the latency of single predictions while the learner trains on two streams, and while
// it does nothing.
func BenchmarkPredictBeside(b *testing.B) {
	for _, name := range []string{backend.XLACPU, backend.Go} {
		for _, training := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/training=%t", name, training), func(b *testing.B) {
				net, err := model.NewMLP(784, []int{128, 64}, 10)
				if err != nil {
					b.Fatal(err)
				}
				l := smallLearner(b, pcltest.Backend(b, name), "emgd-gmc", Options{Model: net, Increment: scenario.ClassIncremental, Batch: 128})
				for i := range 2 {
					attach(b, l, Task{Classes: []int{2 * i, 2*i + 1}, Stream: &noisy{class: 2 * i}})
				}
				if _, err := l.Step(); err != nil {
					b.Fatal(err)
				}
				p, err := l.Snapshot()
				if err != nil {
					b.Fatal(err)
				}
				ctx, stop := context.WithCancel(b.Context())
				var trainer sync.WaitGroup
				if training {
					trainer.Go(func() {
						for ctx.Err() == nil {
							if _, err := l.Step(); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				x, took := make([]float32, 784), []time.Duration(nil)
				steps := l.Steps()
				for b.Loop() {
					began := time.Now()
					if _, err := p.Predict(x); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(began))
					time.Sleep(200 * time.Microsecond) // as requests come
				}
				b.ReportMetric(float64(l.Steps()-steps)/b.Elapsed().Seconds(), "steps/s")
				stop()
				trainer.Wait()
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			})
		}
	}
}

// noisy delivers noise of two classes.
type noisy struct{ class, n int }

func (s *noisy) Next(b *data.Batch) error {
	for i := range b.Class {
		b.Class[i] = s.class + i%2
	}
	for i := range b.X {
		s.n++
		b.X[i] = float32(s.n*7919%1000) / 1000
	}
	b.N = len(b.Class)
	return nil
}
