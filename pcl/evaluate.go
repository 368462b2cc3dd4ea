package pcl

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gomlx/compute"
	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
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
		if loss := l.options.compared(); loss != nil {
			return nil, fmt.Errorf("loss %s has no classes to predict; call EvaluateLoss", loss.Key())
		}
		if err := l.prepare(); err != nil {
			return nil, err
		}
		return l.countAll(id, t, n)
	})
}

// EvaluateLoss returns the mean loss of the test samples of the task with the given id, weighted if samples have weights.
// Batch normalisation uses the running statistics, as in [Learner.Evaluate].
func (l *Learner) EvaluateLoss(id int) (float64, error) {
	return callFor(context.Background(), l, "evaluate", func() (float64, error) {
		t, n, err := l.tested(id)
		if err != nil {
			return 0, err
		}
		return l.meanLoss(id, t.Test, n)
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
		return l.inBatches(method.Memory, s, n, func(b *device.Batch) error {
			_, rows, err := l.describeAt(l.network.theta, b, l.options.lossOf(method.Memory))
			for i, of := range rows {
				wide := make([]float64, len(of))
				for k, v := range of {
					wide[k] = float64(v)
				}
				features, class = append(features, wide), append(class, b.Class[i])
			}
			return err
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
	if t = &known.Task; t.Test != nil {
		n, err = sizeOf(t.Test)
	}
	if err == nil && n <= 0 {
		err = fmt.Errorf("%s was attached without test samples", label(id, t.Name))
	}
	return t, n, err
}

func sizeOf(s data.Samples) (n int, err error) {
	err = guarded("counting the samples", func() error { n = s.Len(); return nil })
	return n, err
}

// inBatches calls f with n samples of a task, a batch at a time.
func (l *Learner) inBatches(id int, s data.Samples, n int, f func(b *device.Batch) error) error {
	b, err := l.newBatch()
	if err != nil {
		return err
	}
	defer b.Free()
	for from := 0; from < n; from += l.options.Batch {
		err := guarded("reading the samples", func() error { return b.Read(s, n, from, id) })
		if err != nil {
			return fmt.Errorf("the samples of task %d: %w", id, err)
		}
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

// meanLoss is the mean loss of n test samples of a task.
func (l *Learner) meanLoss(id int, test data.Samples, n int) (float64, error) {
	sum, weights := 0.0, 0.0
	err := l.inBatches(id, test, n, func(b *device.Batch) error {
		if err := b.Aim(l.heads, rehearsal.Loss{}); err != nil {
			return err
		}
		each, err := l.lossesAt(l.network.theta, b, rehearsal.Loss{}) // without what a method adds to it
		width := len(b.X) / len(b.Class)
		for i, x := range each {
			w := 1.0
			if l.options.Weighted {
				w = float64(b.X[(i+1)*width-1])
			}
			if !(w >= 0) || math.IsInf(w, 1) {
				return fmt.Errorf("a test sample of task %d has weight %g; want a number of at least 0", id, w)
			}
			sum, weights = sum+w*x, weights+w
		}
		return err
	})
	if err == nil && weights == 0 {
		err = fmt.Errorf("every test sample of task %d has weight 0", id)
	}
	return sum / weights, err
}

// countAll counts those of the n test samples that are predicted correctly. Several workers share the batches, so that one
// fills a batch while others compute. A method that predicts by a rule of its own gets one worker only.
func (l *Learner) countAll(id int, t *Task, n int) ([]ClassCount, error) {
	workers := min(runtime.GOMAXPROCS(0), 1+n/l.options.Batch)
	if _, ok := method.As[rehearsal.Predictor](l.options.Method); ok {
		workers = 1
	}
	// XLA's binding caches a buffer's shape when it is first asked for, without a lock. All workers read θ, so
	// its shape is asked for here, before they start.
	if _, err := l.network.theta.Shape(); err != nil {
		return nil, err
	}
	var group errgroup.Group
	var next atomic.Int64
	tally := newTally(t.Classes)
	for w := range workers {
		set := l.lanes[w%len(l.lanes)]
		group.Go(func() error {
			theta, drop, err := program.Bring(set.Backend, l.network.theta)
			defer drop()
			if err != nil {
				return err
			}
			b, err := l.newBatchOn(w)
			if err != nil {
				return err
			}
			defer b.Free()
			size := l.options.Batch
			for from := int(next.Add(int64(size))) - size; from < n; from = int(next.Add(int64(size))) - size {
				if err := l.countRight(set, theta, id, t.Test, b, n, from, tally); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return tally.counts, err
}

// countRight counts the samples that are predicted correctly in one batch of the n test samples, which begins with
// sample number from. theta and the batch are on the client of the set.
func (l *Learner) countRight(set *graphs.Set, theta compute.Buffer, id int, test data.Samples, b *device.Batch, n, from int, tally *tally) (err error) {
	return guarded("reading or predicting the test samples", func() (err error) {
		if err := b.Read(test, n, from, id); err != nil {
			return fmt.Errorf("the test samples have %w", err)
		}
		if own, ok := method.As[rehearsal.Predictor](l.options.Method); ok {
			classes, err := own.Predict(predicting{lab{l}}, b.Items())
			if err == nil && len(classes) != b.N {
				err = fmt.Errorf("method %s predicted %d classes for %d samples", l.options.Method.Info().Name, len(classes), b.N)
			}
			if err == nil {
				tally.add(b.Class[:b.N], func(i int) bool { return classes[i] == b.Class[i] })
			}
			return err
		}
		if err := l.tables.Send(b); err != nil {
			return err
		}
		predicted, err := l.predictAt(set, theta, b)
		if err == nil {
			tally.add(b.Class[:b.N], func(i int) bool { return predicted[i] == b.Output[i] })
		}
		return err
	})
}

// prepare lets a method that predicts by a rule of its own get ready, once after each step that was made
// or task that came or went.
func (l *Learner) prepare() (err error) {
	own, ok := method.As[rehearsal.Predictor](l.options.Method)
	if !ok || l.prepared == l.steps+1 {
		return nil
	}
	return guarded(l.byMethod(), func() (err error) {
		if err := own.Prepare(predicting{lab{l}}); err != nil {
			return err
		}
		l.prepared = l.steps + 1
		return nil
	})
}

// tally counts predictions by class, for several workers.
type tally struct {
	mu     sync.Mutex
	counts []ClassCount
	place  map[int]int // of each class in counts
}

func newTally(classes []int) *tally {
	t := &tally{place: map[int]int{}}
	for i, c := range classes {
		t.counts = append(t.counts, ClassCount{Class: c})
		t.place[c] = i
	}
	return t
}

// add counts samples of the given classes; right says which of them are predicted correctly.
func (t *tally) add(classes []int, right func(i int) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, c := range classes {
		at, known := t.place[c]
		if !known { // a rule of its own may predict what the task was attached without
			at = len(t.counts)
			t.place[c] = at
			t.counts = append(t.counts, ClassCount{Class: c})
		}
		t.counts[at].Test++
		if right(i) {
			t.counts[at].Right++
		}
	}
}
