package pcl

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

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
		if loss := l.options.compared(); loss != nil {
			return nil, fmt.Errorf("loss %s has no classes to predict; call EvaluateLoss", loss.Key())
		}
		return l.countAll(id, t, n)
	})
}

// EvaluateLoss returns the mean loss of the test samples of the task with the given id.
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
		err := guarded("reading the samples", func() error { b.Read(s, n, from, id); return nil })
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
	sum := 0.0
	err := l.inBatches(id, test, n, func(b *device.Batch) error {
		if err := b.Aim(l.heads, rehearsal.Loss{}); err != nil {
			return err
		}
		each, err := l.lossesAt(l.network.theta, b, rehearsal.Loss{}) // without what a method adds to it
		for _, x := range each {
			sum += x
		}
		return err
	})
	return sum / float64(n), err
}

// countAll counts those of the n test samples that are predicted correctly. Several workers share the batches, so that one
// fills a batch while others compute.
func (l *Learner) countAll(id int, t *Task, n int) ([]ClassCount, error) {
	at, rule, err := l.ruleNow()
	if err != nil {
		return nil, err
	}
	theta := lab{l: l}.at(at)
	running := l.statisticsOf(theta)
	// XLA's binding caches a buffer's shape when it is first asked for, without a lock. All workers read θ, so
	// its shape is asked for here, before they start.
	if _, err := theta.Shape(); err != nil {
		return nil, err
	}
	var group errgroup.Group
	var next atomic.Int64
	class, right := make([]int, n), make([]bool, n)
	for w := range min(runtime.GOMAXPROCS(0), 1+n/l.options.Batch) {
		set := l.lanes[w%len(l.lanes)]
		group.Go(func() error {
			here, drop, err := program.Bring(set.Backend, theta)
			defer drop()
			if err != nil {
				return err
			}
			b, err := l.newBatchOn(w)
			if err != nil {
				return err
			}
			defer b.Free()
			for size := l.options.Batch; ; {
				from := int(next.Add(int64(size))) - size
				if from >= n {
					return nil
				}
				err := guarded("reading or predicting the test samples", func() error {
					b.Read(t.Test, n, from, id)
					predicted, err := l.predictAt(set, here, running, b, rule)
					for i, o := range predicted {
						class[from+i], right[from+i] = b.Class[i], o == b.Output[i]
					}
					return err
				})
				if err != nil {
					return err
				}
			}
		})
	}
	err = group.Wait()
	return byClass(t.Classes, class, right), err
}

// byClass counts samples by class, in the order of a task's classes, which all of them have.
func byClass(classes, class []int, right []bool) []ClassCount {
	counts, place := make([]ClassCount, len(classes)), map[int]int{}
	for i, c := range classes {
		counts[i].Class, place[c] = c, i
	}
	for i, c := range class {
		n := &counts[place[c]]
		if n.Test++; right[i] {
			n.Right++
		}
	}
	return counts
}

// prepare lets a method that predicts by a rule of its own get ready, once after each step that was made
// or task that came or went.
func (l *Learner) prepare() (err error) {
	own, ok := method.As[rehearsal.Predictor](l.options.Method)
	if !ok || l.prepared == l.steps+1 {
		return nil
	}
	return guarded(l.byMethod(), func() (err error) {
		if err := own.Prepare(lab{l: l}); err != nil {
			return err
		}
		l.prepared = l.steps + 1
		return nil
	})
}
