package pcl

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// attached is a task that has been attached and has not ended.
type attached struct {
	Task
	id          int
	reservoir   *memory.Reservoir
	current     *device.Batch // the batch that the next step trains on, if ready is set
	spare       *device.Batch // the batch after that one, if fetched is set
	varied      *device.Batch // a copy of current that augmentation changes; nil as long as it was not needed
	ready       bool
	fetched     bool
	exhausted   bool   // the stream has no more batches
	leftOut     bool   // the task's batch does not count in the step being made
	bad         []int  // the places of samples that do not count in it, in order
	absent      bool   // the task takes no part in the step being made: it is paused, or its stream was not ready
	unsubscribe func() // stops the stream from notifying; nil if it does not
	err         error  // why the stream failed after the current batch, until a step returns it
	paused      atomic.Bool
	samples     *atomic.Int64           // how many the task's streams have delivered
	admit       func(x []float32) error // what a method demands of each sample; nil if it takes all
	features    Features                // of the stream's samples; nil if the model takes these
}

// free releases the task's batches, and undoes listen. A stream that panics there is not heard of
// any more.
func (t *attached) free() {
	if t.unsubscribe != nil {
		_ = guarded("the stream", func() error { t.unsubscribe(); return nil })
	}
	t.current.Free()
	t.spare.Free()
	t.varied.Free()
	t.current, t.spare, t.varied, t.unsubscribe, t.ready, t.fetched = nil, nil, nil, nil, false, false
}

// makeBatches gives a task room for the batch that it trains on and the next one.
func (t *attached) makeBatches(on *device.Set) (err error) {
	if t.current, err = on.NewBatch(); err != nil {
		return err
	}
	t.spare, err = on.NewBatch()
	return err
}

// open fetches a task's first batch, if there is one yet, and has the stream notify when there are
// more.
func (t *attached) open(on *device.Set, collected *memory.Reservoir, notify func()) error {
	if err := t.makeBatches(on); err != nil {
		return err
	}
	switch err := t.fetch(t.current); err {
	case nil:
		t.ready = true
	case data.ErrNotReady:
	case io.EOF:
		return errors.New("its stream is empty")
	default:
		return err
	}
	t.reservoir = collected
	return t.listen(notify)
}

// listen has the stream call notify when it is ready, if it can.
func (t *attached) listen(notify func()) (err error) {
	defer recovered(&err, "the stream panicked")
	if s, ok := t.Stream.(data.Notifier); ok {
		t.unsubscribe = s.Notify(notify)
	}
	return nil
}

func (t *attached) failed(err error) error { return &StreamError{t.id, t.Name, err} }

// fetch fills b with the stream's next batch, which is valid only if there is no error. io.EOF
// means that the stream has ended, data.ErrNotReady that it has no batch yet. A stream that returns
// io.EOF together with its last batch is not asked again.
func (t *attached) fetch(b *device.Batch) error {
	b.Empty()
	if t.exhausted {
		return io.EOF
	}
	given := data.Batch{X: b.X, Class: b.Class}
	err := fillWith(t.features, &given, func(b *data.Batch) error {
		return guarded("the stream", func() error { return t.Stream.Next(b) })
	})
	t.exhausted = err == io.EOF
	switch notReady := errors.Is(err, data.ErrNotReady); {
	case t.exhausted && given.N == 0:
		return io.EOF
	case notReady && given.N == 0:
		return data.ErrNotReady
	case notReady:
		return fmt.Errorf(
			"the stream delivered %d samples and said that it is not ready; want no samples with ErrNotReady",
			given.N)
	case err != nil && !t.exhausted:
		return err
	}
	if err = t.take(b, &given); err != nil {
		b.Empty()
		return fmt.Errorf("the stream delivered %w", err)
	}
	t.samples.Add(int64(b.N))
	return nil
}

// take checks a batch that the stream delivered, now or before the learner was saved, and moves it
// into b. The stream may have replaced the slices that it was given by its own, which are copied.
func (t *attached) take(b *device.Batch, given *data.Batch) error {
	n, width := given.N, len(b.X)/len(b.Class)
	switch {
	case n < 1 || n > len(b.Class):
		return fmt.Errorf("a batch of %d samples; want 1 to %d", n, len(b.Class))
	case len(given.X) < n*width:
		return fmt.Errorf("%d values for %d samples of %d each", len(given.X), n, width)
	case len(given.Class) < n:
		return fmt.Errorf("%d classes for %d samples", len(given.Class), n)
	}
	for i, c := range given.Class[:n] {
		if !slices.Contains(t.Classes, c) {
			return fmt.Errorf("sample %d of class %d, which is not among the task's classes %v", i, c, t.Classes)
		}
		if t.admit == nil {
			continue
		}
		if err := t.admit(given.X[i*width : (i+1)*width]); err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
	}
	b.Take(t.id, *given)
	return nil
}

// observe offers the reservoir the samples of the batch that was just trained on.
func (t *attached) observe() {
	b := t.current
	if !t.ready || t.leftOut || t.absent || b.Repeat {
		return
	}
	for _, it := range t.trainedOn() {
		t.reservoir.Offer(it.Class, it.Pixels)
	}
}

// trainedOn returns the samples of the current batch that took part in the step.
func (t *attached) trainedOn() []memory.Item {
	items := t.current.Items()
	for _, i := range slices.Backward(t.bad) {
		items = slices.Delete(items, i, i+1)
	}
	return items
}

// checkNames returns an error if there are names, but not one for each class, or if other tasks
// give a class another one.
func (t *attached) checkNames(others map[int]string) error {
	if n := len(t.ClassNames); n != 0 && n != len(t.Classes) {
		return fmt.Errorf("it has %d names for %d classes", n, len(t.Classes))
	}
	for i, name := range t.ClassNames {
		if other := others[t.Classes[i]]; other != "" && name != "" && name != other {
			return fmt.Errorf("it calls class %d %q, and another task %q; a class has one name",
				t.Classes[i], name, other)
		}
	}
	return nil
}
