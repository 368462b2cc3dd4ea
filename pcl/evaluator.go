package pcl

import (
	"fmt"
	"runtime"
	"slices"
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

// evaluator measures the network on samples that it does not train on. It makes batches of its own,
// and only reads the learner's parts.
type evaluator struct {
	batch   int            // how many samples a batch has
	scores  rehearsal.Loss // says how scores come from features
	network *network
	tasks   *tasks
	targets targets
	outside Features // of the samples; nil if the network takes these
}

// loss returns the sum of the losses of n samples of a task, without what a method adds to them.
func (e evaluator) loss(id int, s data.Samples, n int) (sum float64, err error) {
	err = e.inBatches(id, s, n, func(b *device.Batch) error {
		if err := e.targets.outputs(b, rehearsal.Loss{}); err != nil {
			return err
		}
		losses, err := e.network.programs.Losses(e.network.now(), b, rehearsal.Loss{})
		for _, x := range losses {
			sum += x
		}
		return err
	})
	return sum, err
}

// features returns the features and the class of each of n samples.
func (e evaluator) features(s data.Samples, n int) (features [][]float64, class []int, err error) {
	err = e.inBatches(method.MemoryID, s, n, func(b *device.Batch) error {
		_, rows, err := e.network.programs.Describe(e.network.now(), b, e.scores)
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
	return features, class, err
}

// inBatches calls f with n samples of a task, a batch at a time.
func (e evaluator) inBatches(id int, s data.Samples, n int, f func(b *device.Batch) error) error {
	b, err := e.network.programs.Lane(0).NewBatch()
	if err != nil {
		return err
	}
	defer b.Free()
	for from := 0; from < n; from += e.batch {
		if err := e.read(b, s, n, from, id); err != nil {
			return err
		}
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

// read fills a batch with samples of a task.
func (e evaluator) read(b *device.Batch, s data.Samples, n, from, id int) (err error) {
	defer recovered(&err, fmt.Sprintf("reading the samples of task %d panicked", id))
	b.Empty()
	b.N = min(len(b.Class), n-from)
	given := b.Batch
	if err := fillWith(e.outside, &given, func(b *data.Batch) error {
		b.Fill(s, func(i int) int { return from + i })
		return nil
	}); err != nil {
		return err
	}
	b.Take(id, given)
	return nil
}

// count counts those of a task's n test samples that are predicted correctly. Several workers share
// the batches, so that one fills a batch while others compute.
func (e evaluator) count(id int, t *Task, n int, p rehearsal.Point, rule rehearsal.Scorer) ([]ClassCount, error) {
	at := e.network.at(e.network.point(p))
	// XLA's binding caches a buffer's shape when it is first asked for, without a lock. All workers
	// read θ, so its shape is asked for here, before they start.
	if _, err := at.Theta.Shape(); err != nil {
		return nil, err
	}
	counts := newCounts(t.Classes)
	var group errgroup.Group
	var next atomic.Int64
	work := func(w int) error {
		set, here := e.network.programs.Lane(w), at
		if at.Theta.Backend() != set.Backend {
			var err error
			if here.Theta, err = backend.Copy(set.Backend, at.Theta); err != nil {
				return err
			}
			defer program.Free(here.Theta)
		}
		b, err := set.NewBatch()
		if err != nil {
			return err
		}
		defer b.Free()
		for {
			from := int(next.Add(int64(e.batch))) - e.batch
			if from >= n {
				return nil
			}
			if err := e.read(b, t.Test, n, from, id); err != nil {
				return err
			}
			predicted, err := e.predict(set, here, b, rule)
			if err != nil {
				return err
			}
			counts.add(b, predicted)
		}
	}
	for w := range min(runtime.GOMAXPROCS(0), 1+n/e.batch) {
		group.Go(func() error { return guarded("predicting the test samples", func() error { return work(w) }) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return counts.of, nil
}

// classCounts counts predictions by class. Any goroutine may add to it.
type classCounts struct {
	mu    sync.Mutex
	of    []ClassCount
	place map[int]int // class → its place in of
}

func newCounts(classes []int) *classCounts {
	c := &classCounts{of: make([]ClassCount, len(classes)), place: map[int]int{}}
	for i, class := range classes {
		c.of[i].Class, c.place[class] = class, i
	}
	return c
}

// add counts the samples of a batch, for which outputs were predicted.
func (c *classCounts) add(b *device.Batch, predicted []int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, o := range predicted {
		n := &c.of[c.place[b.Class[i]]]
		if n.Test++; o == b.Output[i] {
			n.Right++
		}
	}
}

// predict returns the output that is predicted for each sample of a batch. It sets the batch's
// targets itself, so that the outputs that compete are those of prediction, not those of training.
// The parameters and the batch are on the client of the set.
func (e evaluator) predict(set *device.Set, at device.At, b *device.Batch, rule rehearsal.Scorer) ([]int32, error) {
	if err := e.targets.outputs(b, rehearsal.Loss{}); err != nil {
		return nil, err
	}
	if own, ok := rule.(rehearsal.InputScorer); ok {
		return e.predictByInputs(own, b)
	}
	if rule == nil {
		return set.Predict(at, b, e.scores)
	}
	scores, features, err := set.Describe(at, b, e.scores)
	if err != nil {
		return nil, err
	}
	lo, hi := e.tasks.registry.competing(b.Task[0]) // all are of one task
	classes := e.tasks.registry.among(b.Task[0])
	outputs := make([]int, 0, hi-lo)
	for o := lo; o < hi; o++ {
		outputs = append(outputs, o)
	}
	if _, ok := rule.(rehearsal.ValueScorer); ok {
		features = rowsOf(b.X, len(b.X)/len(b.Class))
	}
	predicted := make([]int32, b.N)
	for i := range predicted {
		_, best, _ := compared(rule, scores[i], features[i], classes, outputs)
		predicted[i] = int32(lo + best)
	}
	return predicted, nil
}

// rowsOf divides values into rows of a width.
func rowsOf(x []float32, width int) [][]float32 { return slices.Collect(slices.Chunk(x, width)) }

// predictByInputs is predict for a scorer that does not ask the network.
func (e evaluator) predictByInputs(scorer rehearsal.InputScorer, b *device.Batch) (predicted []int32, err error) {
	width := len(b.X) / len(b.Class)
	scores, err := scorer.ScoreInputs(b.X[:b.N*width], e.tasks.registry.among(b.Task[0]))
	lo, _ := e.tasks.registry.competing(b.Task[0]) // all are of one task
	for _, of := range scores {
		predicted = append(predicted, int32(lo+largest(of)))
	}
	return predicted, err
}
