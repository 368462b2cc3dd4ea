package pcl

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// flat returns the values and classes of samples.
func flat(s data.Samples, inputs int) (x []float32, class []int) {
	x = make([]float32, s.Len()*inputs)
	for i := range s.Len() {
		class = append(class, s.Sample(i, x[i*inputs:(i+1)*inputs]))
	}
	return x, class
}

// predictedRight counts what a predictor predicts correctly of a task's test samples, all at once
// and one by one.
func predictedRight(t *testing.T, p *Predictor, increment string, id int, s data.Samples) (batched,
	single map[int]int) {
	t.Helper()
	predict := func(x []float32) []Prediction {
		if increment == "task" {
			return must.Get(p.PredictTask(id, x))(t)
		}
		return must.Get(p.Predict(x))(t)
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
				t.Errorf("sample %d: alone it has probability %g of class %d, in a batch %g",
					i, one.Probabilities[k], q.Classes[k], prob)
			}
		}
		if math.Abs(total-1) > 1e-9 {
			t.Fatalf("sample %d: the probabilities add up to %g", i, total)
		}
		if q.Classes[best] != q.Class {
			t.Fatalf("sample %d: class %d is predicted, class %d is the most probable", i, q.Class, q.Classes[best])
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

// TestPredictorIsEvaluation: a snapshot predicts what the learner's own evaluation predicts, with
// logits, cosines, nearest means, batch normalisation and a network trained for predictions, while
// tasks run and after their end.
func TestPredictorIsEvaluation(t *testing.T) {
	const task, class = "task", "class"
	for _, c := range []struct {
		method    string
		increment string
		params    map[string]any
		model     model.Model
	}{
		{"emgd-gmc", task, nil, nil}, {"icarl", task, nil, nil}, {"emgd", class, nil, nil}, {"icarl", class, nil, nil},
		{"mdmtr", class, nil, nil},
		{"avggrad+ncm", class, map[string]any{"where": "between-tasks"}, nil},
		{"gdumb", class, map[string]any{"passes": 2.0}, nil},
		{"avggrad", class, nil, normalised(t)},
	} {
		t.Run(c.method+"/"+c.increment, func(t *testing.T) {
			d := pcltest.Blobs(6, 12, 5)
			l := smallLearner(t, pcltest.Backend(t, backend.Go), "",
				Options{Method: newMethod(t, c.method, c.params), Increment: c.increment, Model: c.model})
			for id := 1; id <= 3; id++ {
				attach(t, l, blobTask(t, d, id, 2*id-2, 2*id-1))
				steps(t, l, 2)
				p := must.Get(l.Snapshot())(t)
				for of := 1; of <= id; of++ {
					batched, single := predictedRight(t, p, c.increment, of, d.Select(&d.Test, 0, 2*of-2, 2*of-1))
					for _, count := range must.Get(l.EvaluateByClass(of))(t) {
						if batched[count.Class] != count.Right || single[count.Class] != count.Right {
							t.Errorf("step %d, class %d: %d are right in the evaluation, %d and, one by one, %d "+
								"in the snapshot",
								l.Steps(), count.Class, count.Right, batched[count.Class], single[count.Class])
						}
					}
				}
				p.Close()
			}
		})
	}
}

// TestPredictorStaysAsItIs: a snapshot predicts the same while the learner trains, from many
// goroutines, and after the learner was closed; the learner's own predictions follow it.
func TestPredictorStaysAsItIs(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		d := pcltest.Blobs(4, 80, 10)
		programs := NewPrograms(b)
		l := smallLearner(t, b, "emgd-gmc", Options{Increment: "class", Programs: programs})
		programs.Close() // with the learner
		attach(t, l, blobTask(t, d, 1, 0, 1))
		steps(t, l, 1)
		p := must.Get(l.Snapshot())(t)
		x, _ := flat(d.Select(&d.Test, 0, 0, 1, 2, 3), 64)
		want := must.Get(p.Predict(x))(t)
		attach(t, l, blobTask(t, d, 2, 2, 3))
		var all sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		for range 3 {
			all.Go(func() {
				for ctx.Err() == nil {
					got, err := p.Predict(x)
					if _, own := l.Predict(x[:64]); errors.Join(err, own) != nil || !reflect.DeepEqual(got, want) {
						t.Errorf("%+v, was %+v (%v, %v)", got, want, err, own)
						return
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
		stop()
		all.Wait()
		now := must.Get(l.Predict(x))(t)
		pcltest.Equal(t, "classes that the learner chooses among", now[0].Classes, []int{0, 1, 2, 3})
		if slices.Equal(now[0].Probabilities[:2], want[0].Probabilities) {
			t.Errorf("the learner predicts as before: %v", now[0].Probabilities)
		}
		pcltest.Equal(t, "classes of the snapshot", p.Classes(), []int{0, 1})
		pcltest.Equal(t, "classes of the learner", l.Classes(), []int{0, 1, 2, 3})
		pcltest.Equal(t, "steps of the snapshot", p.Steps(), 1)
		l.Close()
		if got := must.Get(p.Predict(x))(t); !reflect.DeepEqual(got, want) {
			t.Errorf("after Close %+v, was %+v", got, want)
		}
		p.Close()
		p.Close()
		for what, err := range map[string]error{"Predict": second(l.Predict(x)), "Snapshot": second(l.Snapshot()),
			"of a predictor": second(p.Predict(x))} {
			expect.Refusal(t, fmt.Sprintf("%s after Close", what), err, ErrClosed)
		}
		if n := programs.held.Load(); n != 0 {
			t.Errorf("the programs are still held by %d", n)
		}
	})
}

// TestPredictRefuses: samples that cannot be predicted give an error.
func TestPredictRefuses(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 12, 2)
	class := smallLearner(t, b, "avggrad", Options{Increment: "class"})
	task := smallLearner(t, b, "avggrad", Options{})
	x := make([]float32, 128)
	refused(t, second(class.Predict(x)), "no task has arrived yet") // no task has arrived
	for _, l := range []*Learner{class, task} {
		attach(t, l, blobTask(t, d, 1, 4, 1))
		attach(t, l, blobTask(t, d, 2, 3, 0))
	}
	attach(t, task, blobTask(t, d, 3, 0, 3))
	p, q := must.Get(class.Snapshot())(t), must.Get(task.Snapshot())(t)
	defer p.Close()
	defer q.Close()
	infinite, huge := make([]float32, 64), make([]float32, 64)
	infinite[6] = float32(math.Inf(1))
	for i := range huge {
		huge[i] = math.MaxFloat32
	}
	for what, c := range map[string]struct {
		err  error
		want string
	}{
		"half a sample":     {second(p.Predict(x[:100])), "100 values are not one or more samples of 64"},
		"no sample":         {second(p.Predict(nil)), "0 values are not one or more samples of 64"},
		"unknown class":     {second(p.Predict(x, 4, 7)), "class 7 is not among those that have arrived"},
		"class twice":       {second(p.Predict(x, 4, 1, 4)), "class 4 is given twice"},
		"unknown task":      {second(p.PredictTask(3, x)), "there is no task 3"},
		"no task named":     {second(q.Predict(x)), "call PredictTask"},
		"classes of a task": {second(q.Predict(x, 4, 1)), "call PredictTask"},
		"not finite":        {second(p.Predict(infinite)), "sample 0 has a value that is not finite"},
		"overflow":          {second(p.Predict(huge)), "the sample's values are too large"},
	} {
		t.Run(what, func(t *testing.T) { refused(t, c.err, c.want) })
	}
	two := must.Get(p.Predict(x, 3, 4))(t)
	pcltest.Equal(t, "samples", len(two), 2)
	pcltest.Equal(t, "classes among two", two[0].Classes, []int{4, 3})
	one := must.Get(p.Predict(x, 1))(t)[0]
	pcltest.Equal(t, "class among one", one.Class, 1)
	pcltest.Equal(t, "probability among one", one.Probabilities, []float64{1})
	if got := must.Get(q.PredictTask(3, x))(t); !slices.Equal(got[0].Classes, []int{0, 3}) {
		t.Errorf("of task 3: %+v", got[0])
	}
}

// BenchmarkPredict measures predictions of one sample and of a batch beside nothing else.
func BenchmarkPredict(b *testing.B) {
	for _, name := range []string{backend.XLACPU, backend.Go} {
		l := smallLearner(b, pcltest.Backend(b, name), "avggrad", Options{Increment: "class", Batch: 128})
		attach(b, l, blobTask(b, pcltest.Blobs(6, 12, 2), 1, 0, 1, 2))
		p := must.Get(l.Snapshot())(b)
		for _, n := range []int{1, 128} {
			x := make([]float32, n*64)
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					must.Do(b, second(p.Predict(x)))
				}
			})
		}
	}
}

// BenchmarkPredictBeside measures the latency of single predictions while the learner trains on two
// streams, and while it does nothing.
func BenchmarkPredictBeside(b *testing.B) {
	for _, name := range []string{backend.XLACPU, backend.Go} {
		for _, training := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/training=%t", name, training), func(b *testing.B) {
				be := pcltest.Backend(b, name)
				programs := NewPrograms(be)
				defer programs.Close()
				l := psEMNIST(b, be, programs, "emgd-gmc", 2)
				defer l.Close()
				steps(b, l, 1)
				p := must.Get(l.Snapshot())(b)
				ctx, stop := context.WithCancel(b.Context())
				var trainer sync.WaitGroup
				trainer.Go(func() {
					for training && ctx.Err() == nil {
						if _, err := l.Step(); err != nil {
							b.Error(err)
							return
						}
					}
				})
				x, took := make([]float32, 784), []time.Duration(nil)
				before := l.Steps()
				for b.Loop() {
					began := time.Now()
					must.Do(b, second(p.Predict(x)))
					took = append(took, time.Since(began))
					time.Sleep(200 * time.Microsecond) // as requests come
				}
				b.ReportMetric(float64(l.Steps()-before)/b.Elapsed().Seconds(), "steps/s")
				stop()
				trainer.Wait()
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			})
		}
	}
}
