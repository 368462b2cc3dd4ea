package data

import (
	"encoding/json"
	"errors"
)

// ErrNotReady is what [Stream.Next] returns when there is nothing to train on yet, but may be
// later. The task then takes no part in the step that is being made, and nobody waits for it.
var ErrNotReady = errors.New("data: the stream is not ready")

// Stream delivers the training data of one task, batch by batch. The learner calls it from one
// goroutine at a time, and fetches each batch while it trains on the one before.
type Stream interface {
	// Next fills b with the next batch. It may also replace b.X and b.Class by slices of its own,
	// which are copied before Next is called again. It returns io.EOF when there are no more
	// batches, or together with the last batch. It returns [ErrNotReady], and fills in nothing,
	// when it would have to wait: a stream that waits holds up the steps of all tasks.
	//
	// If Next returns another error, panics, or delivers a batch that cannot be used (no samples or
	// too many, too few values, a class that is not one of the task's), then nothing of the batch
	// is used, the learner's Step returns a StreamError, and the step after that calls Next again.
	Next(b *Batch) error
}

// Resumable is a stream whose position can be saved in a checkpoint.
type Resumable interface {
	Stream
	// State returns the position: which batch Next will deliver next.
	State() (json.RawMessage, error)
	// SetState moves the stream to a position that State returned.
	SetState(json.RawMessage) error
}

// Notifier is a stream that says when there may be something to deliver, after Next has returned
// [ErrNotReady]. Other streams are asked again from time to time.
type Notifier interface {
	Stream
	// Notify makes the stream call wake whenever Next may have something to deliver, or has ended.
	// The stream calls it from any goroutine; wake returns at once. Another call replaces wake.
	// stop ends this, unless wake was replaced: a learner that is closed does not silence the
	// stream for another one that goes on with it.
	Notify(wake func()) (stop func())
}
