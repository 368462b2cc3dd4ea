package data

import "encoding/json"

// Stream delivers the training data of one task, batch by batch, and ends with io.EOF. The
// learner calls it from one goroutine at a time, one batch ahead of training.
type Stream interface {
	// Next fills in a batch, or puts slices of its own in the place of b.X and b.Class: they are copied
	// before it is called again. It returns io.EOF where there is no further batch, or together with the
	// last one. After any other error, a panic, or a batch that does not fit (of no samples, too many, too
	// few values, a class that is not the task's), nothing of the batch is used, the learner's Step says
	// so in a StreamError, and the step after it calls Next again.
	Next(b *Batch) error
}

// Resumable is a stream whose position can be saved with a checkpoint and taken up again.
type Resumable interface {
	Stream
	State() (json.RawMessage, error)
	SetState(json.RawMessage) error
}

// RowStream is a stream whose samples may be rows of a table. A stream that is wrapped in another, which
// may change the samples, hides this.
type RowStream interface {
	Stream
	// NextRows is Next, and also writes the number of each sample's row into rows, which has room for a
	// batch. It returns the table; nil where the samples are rows of none.
	NextRows(b *Batch, rows []int32) (table []uint8, err error)
}
