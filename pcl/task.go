package pcl

import (
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// Task is a task to be learnt from a stream of labelled samples; see [Learner.Attach].
type Task struct {
	Name    string
	Classes []int // class ids; tasks may have classes in common
	// ClassNames name the classes, in their order; nil if they have no names. A class that tasks have in common has one
	// name, which any of them may leave empty. Names are for people, and appear in predictions and files.
	ClassNames []string
	Stream     data.Stream  // of this task alone
	Test       data.Samples // what [Learner.Evaluate] measures; may be nil
}

// StreamError is what [Learner.Step] returns if a stream failed or delivered a batch that cannot be used. The
// step was not made and nothing has changed: the other streams keep their batches, and the bad batch is dropped.
// The next Step asks the stream for its next batch. To drop the stream instead, call [Learner.Detach].
type StreamError struct {
	ID   int // the id of the task
	Name string
	Err  error
}

func (e *StreamError) Error() string {
	return fmt.Sprintf("%s: %v", label(e.ID, e.Name), e.Err)
}

func (e *StreamError) Unwrap() error { return e.Err }

// label names a task in messages.
func label(id int, name string) string {
	if name == "" || name == fmt.Sprintf("task %d", id) {
		return fmt.Sprintf("task %d", id)
	}
	return fmt.Sprintf("task %d (%s)", id, name)
}

// task is an attached stream that has not ended.
type task struct {
	Task
	id        int
	weighted  bool // whether a sample's last value is its weight
	reservoir *memory.Reservoir
	current   *device.Batch // the batch that the next step trains on, if ready is set
	spare     *device.Batch // the batch after that one, if fetched is set
	varied    *device.Batch // a copy of current that augmentation changes; nil as long as it was not needed
	ready     bool
	fetched   bool
	over      bool   // the stream has no more batches
	leftOut   bool   // the task's batch does not count in the step being made
	absent    bool   // the task takes no part in the step being made: it is paused, or its stream was not ready
	silence   func() // stops the stream from ringing the bell; nil if it does not
	err       error  // why the stream failed after the current batch, until a step returns it
	paused    atomic.Bool
	samples   *atomic.Int64 // how many the task's streams have delivered
}

// free releases the task's batches.
func (t *task) free() {
	t.current.Free()
	t.spare.Free()
	t.varied.Free()
	t.current, t.spare, t.varied, t.ready, t.fetched = nil, nil, nil, false, false
}

func (t *task) failed(err error) error { return &StreamError{t.id, t.Name, err} }

// fetch fills b with the stream's next batch; b is valid only if there is no error. io.EOF says that there is no
// next batch, and data.ErrNotReady that there is none yet. A stream that returns io.EOF together with its last batch
// is not asked again.
func (t *task) fetch(b *device.Batch) error {
	b.Empty()
	if t.over {
		return io.EOF
	}
	given := data.Batch{X: b.X, Class: b.Class}
	table, err := t.next(&given, b.Rows)
	if err == io.EOF {
		if t.over = true; given.N == 0 {
			return io.EOF
		}
	} else if errors.Is(err, data.ErrNotReady) {
		if given.N != 0 {
			return fmt.Errorf("the stream delivered %d samples and said that it is not ready; want no samples with ErrNotReady", given.N)
		}
		return data.ErrNotReady
	} else if err != nil {
		return err
	}
	if err = t.take(b, &given); err == nil {
		err = b.TakeRows(table)
	}
	if err != nil {
		b.Empty()
		return fmt.Errorf("the stream delivered %w", err)
	}
	return nil
}

// next asks the stream for a batch.
func (t *task) next(b *data.Batch, rows []int32) (table []uint8, err error) {
	err = guarded("the stream", func() (err error) {
		if s, ok := t.Stream.(data.RowStream); ok {
			table, err = s.NextRows(b, rows)
			return err
		}
		return t.Stream.Next(b)
	})
	return table, err
}

// take checks the batch that the stream delivered and moves it into b. The stream may have replaced the slices
// that it was given by slices of its own; those are copied.
func (t *task) take(b *device.Batch, given *data.Batch) error {
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
	}
	if t.weighted {
		if err := checkWeights(given.X, n, width); err != nil {
			return err
		}
	}
	if &given.X[0] != &b.X[0] {
		copy(b.X, given.X[:n*width])
	}
	if &given.Class[0] != &b.Class[0] {
		copy(b.Class, given.Class[:n])
	}
	b.N, b.Repeat = n, given.Repeat
	t.samples.Add(int64(n))
	for i := range n {
		b.Task[i] = t.id
	}
	return nil
}

// checkWeights returns an error if the weights of a batch's samples cannot be used.
func checkWeights(x []float32, n, width int) error {
	total := 0.0
	for i := range n {
		w := float64(x[(i+1)*width-1])
		if !(w >= 0) || math.IsInf(w, 1) {
			return fmt.Errorf("sample %d with weight %g; want a number of at least 0", i, w)
		}
		total += w
	}
	if total == 0 {
		return errors.New("a batch in which every sample has weight 0")
	}
	if total > math.MaxFloat32 {
		return fmt.Errorf("a batch whose weights add up to %g, which float32 does not hold", total)
	}
	return nil
}

// observe offers the reservoir the samples of the batch that was just trained on.
func (t *task) observe() {
	b := t.current
	if !t.ready || t.leftOut || t.absent || b.Repeat {
		return
	}
	width := len(b.X) / len(b.Class)
	for i := range b.N {
		t.reservoir.Offer(b.Class[i], b.X[i*width:(i+1)*width])
	}
}

// hush undoes listen. A stream that panics here is not heard of any more.
func (t *task) hush() {
	if silence := t.silence; silence != nil {
		t.silence = nil
		_ = guarded("the stream", func() error { silence(); return nil })
	}
}

// guarded calls code that is not the learner's own: a stream, a method, a hook. It returns a panic as an error that says
// whose code it was, and so it does where the code ends its goroutine, which is one of its own for that reason.
func guarded(whose string, call func() error) error {
	done := make(chan error, 1)
	go func() {
		err := fmt.Errorf("%s ended its goroutine (runtime.Goexit, as FailNow and Fatal of a test do)", whose)
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%s panicked: %v", whose, r)
			}
			done <- err
		}()
		err = call()
	}()
	return <-done
}

// withinGuarded reports whether this goroutine runs such code.
func withinGuarded() bool {
	callers := make([]uintptr, 256)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "/pcl.guarded.func1") {
			return true
		}
		if !more {
			return false
		}
	}
}
