package pcl

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

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
	return callFor(context.Background(), l, "evaluate", func() ([]ClassCount, error) {
		t, n, err := l.tested(id)
		if err != nil {
			return nil, err
		}
		if l.options.compared() != nil {
			return nil, fmt.Errorf("loss %s has no classes to predict; call EvaluateLoss", keyOf(l.options.Loss))
		}
		return l.countAll(id, t, n)
	})
}

// EvaluateLoss returns the mean loss of the test samples of the task with the given id.
// Batch normalisation uses the running statistics, as in [Learner.Evaluate].
func (l *Learner) EvaluateLoss(id int) (float64, error) {
	return callFor(context.Background(), l, "evaluate", func() (sum float64, err error) {
		t, n, err := l.tested(id)
		if err != nil {
			return 0, err
		}
		err = l.inBatches(id, t.Test, n, func(b *device.Batch) error {
			if err := l.target(b, rehearsal.Loss{}); err != nil {
				return err
			}
			plain := rehearsal.Loss{} // without what a method adds to it
			losses, err := l.programs.Losses(l.at(l.network.theta), b, plain)
			for _, x := range losses {
				sum += x
			}
			return err
		})
		return sum / float64(n), err
	})
}

// Features returns, for each sample, its features and its class id. The features are the input of the
// classifier at the current parameters. Batch normalisation uses the running statistics, as in
// [Learner.Evaluate].
func (l *Learner) Features(s data.Samples) (features [][]float64, class []int, err error) {
	err = l.call(context.Background(), "features", func() error {
		n, err := sizeOf(s)
		if err != nil {
			return err
		}
		return l.inBatches(method.MemoryID, s, n, func(b *device.Batch) error {
			_, rows, err := l.programs.Describe(l.at(l.network.theta), b, lossOf(l.method, method.MemoryID))
			if err != nil {
				return err
			}
			for i, of := range rows {
				wide := make([]float64, len(of))
				for k, v := range of {
					wide[k] = float64(v)
				}
				features, class = append(features, wide), append(class, b.Class[i])
			}
			return nil
		})
	})
	return features, class, err
}

// tested returns the task with the given id, which must have test samples, and their number. They are asked for it once.
func (l *Learner) tested(id int) (t *Task, n int, err error) {
	known, err := l.roll.get(id)
	if err != nil {
		return nil, 0, err
	}
	t = &known.Task
	if t.Test != nil {
		if n, err = sizeOf(t.Test); err != nil {
			return nil, 0, err
		}
	}
	if n <= 0 {
		return nil, 0, fmt.Errorf("%s was attached without test samples", label(id, t.Name))
	}
	return t, n, nil
}

func sizeOf(s data.Samples) (_ int, err error) {
	defer recovered(&err, "counting the samples panicked")
	return s.Len(), nil
}

// inBatches calls f with n samples of a task, a batch at a time.
func (l *Learner) inBatches(id int, s data.Samples, n int, f func(b *device.Batch) error) error {
	b, err := l.programs.Lane(0).NewBatch()
	if err != nil {
		return err
	}
	defer b.Free()
	for from := 0; from < n; from += l.options.Batch {
		if err := read(b, s, n, from, id); err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

// read fills a batch with samples of a task.
func read(b *device.Batch, s data.Samples, n, from, id int) (err error) {
	defer recovered(&err, fmt.Sprintf("reading the samples of task %d panicked", id))
	b.Empty()
	b.N = min(len(b.Class), n-from)
	b.Fill(s, func(i int) int { return from + i })
	b.Take(id, b.Batch)
	return nil
}

// countAll counts those of the n test samples that are predicted correctly. Several workers share the batches, so that one
// fills a batch while others compute.
func (l *Learner) countAll(id int, t *Task, n int) ([]ClassCount, error) {
	at, rule, err := l.ruleNow()
	if err != nil {
		return nil, err
	}
	theta := methodContext{l: l}.at(at)
	running := l.at(theta).Running
	// XLA's binding caches a buffer's shape when it is first asked for, without a lock. All workers read θ, so
	// its shape is asked for here, before they start.
	if _, err := theta.Shape(); err != nil {
		return nil, err
	}
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
	work := func(w int) error {
		set := l.programs.Lane(w)
		here := theta
		if theta.Backend() != set.Backend {
			var err error
			if here, err = backend.Copy(set.Backend, theta); err != nil {
				return err
			}
			defer program.Free(here)
		}
		b, err := set.NewBatch()
		if err != nil {
			return err
		}
		defer b.Free()
		for size := l.options.Batch; ; {
			from := int(next.Add(int64(size))) - size
			if from >= n {
				return nil
			}
			if err := read(b, t.Test, n, from, id); err != nil {
				return err
			}
			predicted, err := l.predict(set, device.At{Theta: here, Running: running}, b, rule)
			if err != nil {
				return err
			}
			count(b, predicted)
		}
	}
	for w := range min(runtime.GOMAXPROCS(0), 1+n/l.options.Batch) {
		group.Go(func() error { return guarded("predicting the test samples", func() error { return work(w) }) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return counts, nil
}

// predict returns the output that is predicted for each sample of a batch. It sets the batch's targets itself, so that the
// outputs that compete are those of prediction, not those of training. The parameters and the batch are on the client of the set.
func (l *Learner) predict(set *device.Set, at device.At, b *device.Batch, rule rehearsal.Scorer) (predicted []int32, err error) {
	if err := l.target(b, rehearsal.Loss{}); err != nil {
		return nil, err
	}
	loss := lossOf(l.method, method.MemoryID)
	if rule == nil {
		return set.Predict(at, b, loss)
	}
	scores, features, err := set.Describe(at, b, loss)
	if err != nil {
		return nil, err
	}
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
	return predicted, nil
}

// ruleNow returns the parameters that predictions are made with, and what is compared if it is not the logits. A method that
// predicts by a rule of its own gets ready for it once after each step that was made or task that came or went.
func (l *Learner) ruleNow() (at rehearsal.Point, rule rehearsal.Scorer, err error) {
	own := l.method.Predictor
	if own == nil {
		return rehearsal.Current, nil, nil
	}
	defer recovered(&err, l.byMethod()+" panicked")
	if l.prepared != l.steps+1 {
		if err := own.Prepare(methodContext{l: l}); err != nil {
			return 0, nil, err
		}
		l.prepared = l.steps + 1
	}
	at, rule = own.Snapshot()
	return at, rule, nil
}
