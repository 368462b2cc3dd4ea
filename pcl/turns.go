package pcl

import (
	"context"
	"fmt"
	"sync/atomic"
)

// turns lets one call at a time use a learner, in the order of the calls. It owns why a learner
// takes no more calls: whether it was closed, and the failure that stopped it.
type turns struct {
	busy    chan struct{} // has an element during a call; a channel serves its senders in order
	closed  atomic.Bool
	failure error // why the learner cannot go on; nil while it can; for the caller whose turn it is
}

func newTurns() *turns { return &turns{busy: make(chan struct{}, 1)} }

// enter waits for the caller's turn, which ends with leave. After an error there is no turn.
func (t *turns) enter(ctx context.Context) (err error) {
	select {
	case t.busy <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err = ctx.Err(); t.closed.Load() { // ctx may have ended during the call before
		err = ErrClosed
	}
	if err != nil {
		t.leave()
	}
	return err
}

func (t *turns) leave() { <-t.busy }

// close waits for the call in progress and refuses all later ones. It reports whether it was the
// first to close. The caller has the turn, and leaves.
func (t *turns) close() (first bool) {
	t.busy <- struct{}{}
	return !t.closed.Swap(true)
}

// attempt makes a change that is of no use by half, with code that is not the learner's own. If it
// fails, the learner stops for good.
func (t *turns) attempt(whose string, change func() error) error {
	t.failure = guarded(whose, change)
	return t.failure
}

// enter begins a call at the caller's turn; leave ends it. A learner that was stopped by a failure
// takes only the calls that pass stopped, which replace its state.
func (l *Learner) enter(ctx context.Context, stopped bool) error {
	if err := l.turns.enter(ctx); err != nil {
		return err
	}
	if err := l.turns.failure; err != nil && !stopped {
		l.turns.leave()
		return fmt.Errorf("pcl: the learner stopped after %d steps and cannot go on: "+
			"load a checkpoint, or make a new learner: %w", l.Steps(), err)
	}
	return nil
}

// leave ends a call, and publishes what other goroutines may read during the next one.
func (l *Learner) leave() {
	defer l.turns.leave() // also if publish panics, so that Close does not wait for ever
	l.publish()
}

// call makes one call to the learner, whose errors begin with its name.
func (l *Learner) call(ctx context.Context, name string, f func() error) error {
	_, err := callFor(ctx, l, name, func() (none struct{}, err error) { return none, f() })
	return err
}

// callFor is call for a function that returns a value.
func callFor[T any](ctx context.Context, l *Learner, name string, f func() (T, error)) (value T, err error) {
	if err := l.enter(ctx, false); err != nil {
		return value, err
	}
	defer l.leave()
	if value, err = f(); err != nil {
		err = fmt.Errorf("pcl: %s: %w", name, err)
	}
	return value, err
}
