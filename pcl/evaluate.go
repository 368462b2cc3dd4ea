package pcl

import (
	"fmt"
	"runtime"
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
	if err := l.enter(false); err != nil {
		return nil, err
	}
	defer l.leave()
	t, n, err := l.tested(id)
	if err != nil {
		return nil, err
	}
	if loss := l.options.Loss; loss != nil {
		return nil, fmt.Errorf("pcl: evaluate: with loss %s there are no classes to be predicted: call EvaluateLoss", loss.Key())
	}
	if err := l.prepare(); err != nil {
		return nil, fmt.Errorf("pcl: evaluate task %d: %w", id, err)
	}
	counts, err := l.countAll(id, t, n)
	if err != nil {
		return nil, fmt.Errorf("pcl: evaluate task %d: %w", id, err)
	}
	return counts, nil
}

// tested returns the task with the given id, which must have test samples, and their number. They are asked for it once.
func (l *Learner) tested(id int) (t *Task, n int, err error) {
	known, err := l.roll.get("evaluate", id)
	if err != nil {
		return nil, 0, err
	}
	if t = &known.Task; t.Test != nil {
		if n, err = count(t.Test); err != nil {
			return nil, 0, fmt.Errorf("pcl: evaluate task %d: %w", id, err)
		}
	}
	if n <= 0 {
		return nil, 0, fmt.Errorf("pcl: evaluate: task %d (%s) was attached without test samples", id, t.Name)
	}
	return t, n, nil
}

func count(s data.Samples) (n int, err error) {
	err = guarded("counting the test samples", func() error { n = s.Len(); return nil })
	return n, err
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
	if !ok || l.prepared == l.step+1 {
		return nil
	}
	return guarded(l.byMethod(), func() (err error) {
		if err := own.Prepare(predicting{lab{l}}); err != nil {
			return err
		}
		l.prepared = l.step + 1
		return nil
	})
}
