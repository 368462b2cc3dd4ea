package pcl

import (
	"context"
	"errors"
	"time"
)

// askAgain is the time after which a stream is asked again that was not ready and cannot say when it is.
const askAgain = 10 * time.Millisecond

// StepContext is [Learner.Step], but waits while no stream is ready. It returns the error of ctx when ctx ends; a step
// that has begun is made to its end.
func (l *Learner) StepContext(ctx context.Context) (*StepReport, error) {
	for {
		r, err := l.stepOn(ctx)
		if !errors.Is(err, ErrIdle) {
			return r, err
		}
		if err := l.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// Wait returns when there may be something to do after [Learner.Step] has returned [ErrIdle] or [ErrNoStream]: a
// stream may be ready, or a task has arrived, was resumed or has ended. It returns at once if the last step was made.
// If ctx is cancelled, it returns the error of ctx. It may be called from any goroutine, and other calls may be made
// while it waits.
func (l *Learner) Wait(ctx context.Context) error {
	rung, heard := l.bell.listen()
	if l.closed.Load() {
		return ErrClosed
	}
	if l.idleSince.Load() != rung {
		return ctx.Err()
	}
	var again <-chan time.Time
	if l.status.Load().asks {
		timer := time.NewTimer(askAgain)
		defer timer.Stop()
		again = timer.C
	}
	select {
	case <-heard:
	case <-again:
	case <-ctx.Done():
	}
	return ctx.Err()
}
