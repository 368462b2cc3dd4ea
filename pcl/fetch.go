package pcl

import (
	"fmt"
	"io"
	"slices"
)

// StreamError is what [Learner.Step] returns where a stream delivered no batch that can be trained on.
// The step was not made, and nothing has changed: the other streams keep their batches, and the batch at
// fault is not used. The next Step asks the stream for its next batch; [Learner.Detach] drops the stream.
type StreamError struct {
	ID   int // of the task
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

func (t *task) failed(err error) error { return &StreamError{t.id, t.Name, err} }

// fetch fills b with the stream's next batch. io.EOF says that there is none; a stream that ends together
// with its last batch is asked no more. b is valid only if there is no error.
func (t *task) fetch(b *hostBatch) error {
	b.renew()
	if t.over {
		return io.EOF
	}
	given := Batch{X: b.X, Class: b.Class}
	if _, plain := t.Stream.(*shuffled); plain { // one around it may change what it reads
		given.rows = b.rows
	}
	err := t.next(&given)
	if err == io.EOF {
		if t.over = true; given.N == 0 {
			return io.EOF
		}
	} else if err != nil {
		return err
	}
	if err := t.take(b, &given); err != nil {
		b.renew()
		return err
	}
	return nil
}

// next asks the stream; its panics are errors.
func (t *task) next(b *Batch) (err error) {
	defer recovered(&err, "the stream")
	return t.Stream.Next(b)
}

// take checks what the stream delivered and takes it into b. A stream may put slices of its own in the
// place of those that it was to fill.
func (t *task) take(b *hostBatch, given *Batch) error {
	n, width := given.N, len(b.X)/len(b.Class)
	switch {
	case n < 1 || n > len(b.Class):
		return fmt.Errorf("the stream delivered a batch of %d samples; want 1 to %d", n, len(b.Class))
	case len(given.X) < n*width:
		return fmt.Errorf("the stream delivered %d values for %d samples of %d each", len(given.X), n, width)
	case len(given.Class) < n:
		return fmt.Errorf("the stream delivered %d classes for %d samples", len(given.Class), n)
	}
	for i, c := range given.Class[:n] {
		if !slices.Contains(t.Classes, c) {
			return fmt.Errorf("the stream delivered sample %d of class %d, which is not among the task's classes %v", i, c, t.Classes)
		}
	}
	if &given.X[0] != &b.X[0] {
		copy(b.X, given.X[:n*width])
	}
	if &given.Class[0] != &b.Class[0] {
		copy(b.Class, given.Class[:n])
	}
	b.N, b.Repeat, b.table = n, given.Repeat, given.table
	for i := range n {
		b.task[i] = t.id
	}
	return nil
}
