package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/data"
)

// Task is a task to be learnt from a stream of labelled samples; see [Learner.Attach].
type Task struct {
	Name    string
	Classes []int // class ids; tasks may have classes in common
	// ClassNames name the classes, in their order; nil if they have no names. A class that tasks
	// have in common has one name, which any of them may leave empty. Names are for people, and
	// appear in predictions and files.
	ClassNames []string
	// Stream is of this task alone. [NewStream] makes one from a [data.Samples].
	Stream data.Stream
	// Test is what [Learner.Evaluate] measures; may be nil. It has the methods Len() int and
	// Sample(i int, x []float32) (class int).
	Test data.Samples
}

// StreamError is what [Learner.Step] returns if a stream failed or delivered a batch that cannot be
// used. The step was not made and nothing has changed: the other streams keep their batches, and
// the bad batch is dropped. The next Step asks the stream for its next batch. To drop the stream
// instead, call [Learner.Detach].
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

// Image is the shape of a sample. Its values lie row by row, and for each pixel its channels one
// after another.
type Image struct{ Height, Width, Channels int }

func (i Image) size() int { return i.Height * i.Width * i.Channels }
