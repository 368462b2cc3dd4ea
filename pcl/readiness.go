package pcl

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrIdle is what [Learner.Step] returns when tasks run, but none has anything to train on yet:
// their streams are not ready, or they are paused. Nothing has changed. [Learner.Wait] waits until
// one may be.
var ErrIdle = errors.New("pcl: no stream is ready")

// Wait returns when there may be something to do after [Learner.Step] has returned [ErrIdle] or
// [ErrNoStream]: a stream may be ready, or a task has arrived, was resumed or has ended. It returns
// at once if the last step was made. If ctx is cancelled, it returns the error of ctx. It may be
// called from any goroutine, and other calls may be made while it waits.
func (l *Learner) Wait(ctx context.Context) error {
	count, next := l.ready.listen()
	if l.turns.closed.Load() {
		return ErrClosed
	}
	if l.ready.idleSince.Load() != count {
		return ctx.Err()
	}
	return wait(ctx, next, l.status.Load().running.polled())
}

// pollInterval is how long Wait leaves a stream that was not ready and cannot say when it is.
const pollInterval = 10 * time.Millisecond

// wait waits for an event, for the time to poll, or for the end of ctx.
func wait(ctx context.Context, event <-chan struct{}, poll bool) error {
	var again <-chan time.Time
	if poll {
		timer := time.NewTimer(pollInterval)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-event:
	case <-again:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// readiness counts the events after which a step may have something to do: a stream that may be
// ready, a task that has arrived, was resumed or has ended. It owns the count, and who waits for
// the next event.
type readiness struct {
	mu        sync.Mutex
	events    uint64
	next      chan struct{} // closed at the next event; nil as long as nobody waits
	idleSince atomic.Uint64 // the count before the last step if that had nothing to do; otherwise 0
}

// notify counts an event and wakes who waits for one. Streams call it from goroutines of their own.
func (r *readiness) notify() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events++
	if r.next != nil {
		close(r.next)
		r.next = nil
	}
}

// count returns a number that every event changes. It is at least 1.
func (r *readiness) count() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events + 1
}

// listen returns the number that count returns, and a channel that the next event closes.
func (r *readiness) listen() (count uint64, next <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = make(chan struct{})
	}
	return r.events + 1, r.next
}
