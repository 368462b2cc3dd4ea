package pcl

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// ClassCount says how many test samples of a class there are, and how many are predicted correctly.
type ClassCount struct {
	Class, Test, Right int
}

// Evaluate returns the accuracy, from 0 to 1, on the test samples of the task with the given id. A prediction
// chooses among the task's own classes or, in class-incremental mode, among all classes that have arrived.
func (l *Learner) Evaluate(id int) (float64, error) {
	counts, err := l.EvaluateByClass(id)
	if err != nil {
		return 0, err
	}
	right, n := 0, 0
	for _, c := range counts {
		right += c.Right
		n += c.Test
	}
	return float64(right) / float64(n), nil
}

// EvaluateByClass is [Learner.Evaluate] with the counts of each of the task's classes, in their order.
func (l *Learner) EvaluateByClass(id int) ([]ClassCount, error) {
	return callFor(context.Background(), l, "evaluate", func() []ClassCount {
		t, n := l.tested(id)
		fail.When(l.options.compared() != nil, "loss %s has no classes to predict; call EvaluateLoss", keyOf(l.options.Loss))
		return l.countAll(id, t, n)
	})
}

// EvaluateLoss returns the mean loss of the test samples of the task with the given id.
// Batch normalisation uses the running statistics, as in [Learner.Evaluate].
func (l *Learner) EvaluateLoss(id int) (float64, error) {
	return callFor(context.Background(), l, "evaluate", func() (sum float64) {
		t, n := l.tested(id)
		l.inBatches(id, t.Test, n, func(b *device.Batch) {
			l.target(b, rehearsal.Loss{})
			for _, x := range l.programs.Losses(l.at(l.network.theta), b, rehearsal.Loss{}) { // without what a method adds to it
				sum += x
			}
		})
		return sum / float64(n)
	})
}

// Features returns, for each sample, its features and its class id. The features are the input of the
// classifier at the current parameters. Batch normalisation uses the running statistics, as in
// [Learner.Evaluate].
func (l *Learner) Features(s data.Samples) (features [][]float64, class []int, err error) {
	err = l.call(context.Background(), "features", func() {
		l.inBatches(method.Memory, s, sizeOf(s), func(b *device.Batch) {
			_, rows := l.programs.Describe(l.at(l.network.theta), b, l.options.lossOf(method.Memory))
			for i, of := range rows {
				wide := make([]float64, len(of))
				for k, v := range of {
					wide[k] = float64(v)
				}
				features, class = append(features, wide), append(class, b.Class[i])
			}
		})
	})
	return features, class, err
}

// tested returns the task with the given id, which must have test samples, and their number. They are asked for it once.
func (l *Learner) tested(id int) (t *Task, n int) {
	t = &fail.Or(l.roll.get(id)).Task
	if t.Test != nil {
		n = sizeOf(t.Test)
	}
	fail.When(n <= 0, "%s was attached without test samples", label(id, t.Name))
	return t, n
}

func sizeOf(s data.Samples) int {
	defer fail.Foreign("counting the samples panicked")
	return s.Len()
}

// inBatches calls f with n samples of a task, a batch at a time.
func (l *Learner) inBatches(id int, s data.Samples, n int, f func(b *device.Batch)) {
	b := l.programs.Lane(0).NewBatch()
	defer b.Free()
	for from := 0; from < n; from += l.options.Batch {
		read(b, s, n, from, id)
		f(b)
	}
}

// read fills a batch with samples of a task.
func read(b *device.Batch, s data.Samples, n, from, id int) {
	defer fail.Foreign(fmt.Sprintf("reading the samples of task %d panicked", id))
	b.Empty()
	b.N = min(len(b.Class), n-from)
	b.Fill(s, func(i int) int { return from + i })
	b.Take(id, b.Batch)
}

// countAll counts those of the n test samples that are predicted correctly. Several workers share the batches, so that one
// fills a batch while others compute.
func (l *Learner) countAll(id int, t *Task, n int) []ClassCount {
	at, rule := l.ruleNow()
	theta := lab{l: l}.at(at)
	running := l.at(theta).Running
	// XLA's binding caches a buffer's shape when it is first asked for, without a lock. All workers read θ, so
	// its shape is asked for here, before they start.
	fail.Or(theta.Shape())
	var group errgroup.Group
	var next atomic.Int64
	var mu sync.Mutex
	counts, place := make([]ClassCount, len(t.Classes)), map[int]int{}
	for i, c := range t.Classes {
		counts[i].Class, place[c] = c, i
	}
	count := func(b *device.Batch, predicted []int32) {
		mu.Lock()
		defer mu.Unlock()
		for i, o := range predicted {
			n := &counts[place[b.Class[i]]]
			if n.Test++; o == b.Output[i] {
				n.Right++
			}
		}
	}
	work := func(w int) {
		set := l.programs.Lane(w)
		here := theta
		if theta.Backend() != set.Backend {
			here = fail.Or(backend.Copy(set.Backend, theta))
			defer program.Free(here)
		}
		b := set.NewBatch()
		defer b.Free()
		for size := l.options.Batch; ; {
			from := int(next.Add(int64(size))) - size
			if from >= n {
				return
			}
			read(b, t.Test, n, from, id)
			count(b, l.predict(set, device.At{Theta: here, Running: running}, b, rule))
		}
	}
	for w := range min(runtime.GOMAXPROCS(0), 1+n/l.options.Batch) {
		group.Go(func() error { return guarded("predicting the test samples", func() { work(w) }) })
	}
	fail.If(group.Wait())
	return counts
}

// predict returns the output that is predicted for each sample of a batch. It sets the batch's targets itself, so that the
// outputs that compete are those of prediction, not those of training. The parameters and the batch are on the client of the set.
func (l *Learner) predict(set *device.Set, at device.At, b *device.Batch, rule rehearsal.Rule) (predicted []int32) {
	l.target(b, rehearsal.Loss{})
	loss := l.options.lossOf(method.Memory)
	if rule == nil {
		return set.Predict(at, b, loss)
	}
	scores, features := set.Describe(at, b, loss)
	lo, hi := l.roll.competing(b.Task[0]) // all are of one task
	classes := l.roll.among(b.Task[0])
	outputs := make([]int, 0, len(classes))
	for o := lo; o < hi; o++ {
		outputs = append(outputs, o)
	}
	for i := range b.N {
		_, best, _ := compared(rule, scores[i], features[i], classes, outputs)
		predicted = append(predicted, int32(lo+best))
	}
	return predicted
}

// ruleNow returns the parameters that predictions are made with, and what is compared if it is not the logits. A method that
// predicts by a rule of its own gets ready for it once after each step that was made or task that came or went.
func (l *Learner) ruleNow() (rehearsal.Point, rehearsal.Rule) {
	own, ok := method.As[rehearsal.Predictor](l.options.Method)
	if !ok {
		return rehearsal.Now, nil
	}
	defer fail.Foreign(l.byMethod() + " panicked")
	if l.prepared != l.steps+1 {
		fail.If(own.Prepare(lab{l: l}))
		l.prepared = l.steps + 1
	}
	return own.Snapshot()
}
