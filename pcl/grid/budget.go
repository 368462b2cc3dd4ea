package grid

import (
	"context"
	"errors"
	"time"
)

// ErrTimeUp is what [Folder.Work] returns when its time is up and cells are left. The cell that it was at has been saved.
var ErrTimeUp = errors.New("the time is up")

// DefaultReserve is the time that is kept free for saving a run, on top of what is measured.
const DefaultReserve = 5 * time.Second

// budget is the time that a worker has. It does not wait for a signal that its time is up, but stops early enough to
// save: from the run in progress it knows how long a step can take, evaluations and checkpoints included.
type budget struct {
	total   time.Duration // 0 is no limit
	reserve time.Duration
	clock   func() time.Duration
	begun   time.Duration
	longest time.Duration // between two steps
	last    time.Duration // when the last step ended; 0 before the first step of a run
}

// left returns the time that is left before the worker has to stop its run.
func (b *budget) left() time.Duration {
	return b.begun + b.total - b.clock() - b.reserve - 2*b.longest
}

// over reports whether it is time to stop.
func (b *budget) over() bool { return b.total > 0 && b.left() <= 0 }

// step takes note of the end of a step.
func (b *budget) step() {
	now := b.clock()
	if b.last > 0 {
		b.longest = max(b.longest, now-b.last)
	}
	b.last = now
}

// fits reports whether a cell should be begun. One that will not end in time is left to somebody with more time,
// unless no worker with as much time as this one can make it, however early it begins it: that one has to be made in
// parts. A worker needs a moment before its first cell, and the reserve at the end.
func (b *budget) fits(expected time.Duration) bool {
	return b.total == 0 || b.left() > 0 && (expected <= b.left() || expected > b.total-2*b.reserve)
}

// watch cancels a run when the time is up, should that happen in the middle of a step. release ends the watch.
func (b *budget) watch(cancel context.CancelCauseFunc) (release func() bool) {
	if b.total == 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(max(0, b.left()), func() { cancel(ErrTimeUp) }).Stop
}
