package pcl

import (
	"errors"
	"fmt"
	"slices"
)

// ErrClosed is what the calls of a learner return after [Learner.Close].
var ErrClosed = errors.New("pcl: the learner is closed")

// ErrBusy is what a call of a learner returns while another call is in progress. That call may be in another
// goroutine, or it may be the one that made this call, when a stream calls the learner that is reading it.
var ErrBusy = errors.New("pcl: the learner is busy with another call: it serves one at a time")

// enter begins a call to the learner; leave ends it. A learner that was stopped by a failure refuses all calls
// except those that pass stopped, which do not need its state.
func (l *Learner) enter(stopped bool) error {
	if !l.busy.TryLock() {
		return ErrBusy
	}
	err := l.usable()
	if l.closed {
		err = ErrClosed
	} else if stopped {
		err = nil
	}
	if err != nil {
		l.busy.Unlock()
	}
	return err
}

// leave ends a call, and publishes what other goroutines may read while the next call is in progress.
func (l *Learner) leave() {
	l.publish()
	l.busy.Unlock()
}

// usable returns an error if the learner cannot go on, which says why.
func (l *Learner) usable() error {
	if l.failure == nil {
		return nil
	}
	return fmt.Errorf("pcl: the learner stopped in the middle of step %d and cannot go on: load a checkpoint, or make a new learner: %w", l.step, l.failure)
}

// status is what can be read of a learner while a call to it is in progress.
type status struct {
	steps   int
	arrived int
	active  []int
}

func (l *Learner) publish() { l.status.Store(&status{l.step, len(l.tasks), l.active()}) }

// Steps returns how many steps have been made. It may be called from any goroutine.
func (l *Learner) Steps() int { return l.status.Load().steps }

// Arrived returns how many tasks have been attached so far. The id of the next task is one more than this.
// Arrived may be called from any goroutine.
func (l *Learner) Arrived() int { return l.status.Load().arrived }

// Active returns the ids of the streams in the next step: first 0 for the memory, unless it is empty, then the
// ids of the tasks that have not ended. It may be called from any goroutine.
func (l *Learner) Active() []int { return slices.Clone(l.status.Load().active) }

// recovered turns a panic in code that is not the learner's own into an error that says whose code it was.
func recovered(err *error, whose string) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s panicked: %v", whose, r)
	}
}
