package pcl

import (
	"errors"
	"fmt"
	"slices"
)

// ErrClosed is what a learner answers after [Learner.Close].
var ErrClosed = errors.New("pcl: the learner is closed")

// ErrBusy is what a learner answers while another call to it is in progress: in another goroutine, or
// around this one, where a stream calls the learner that reads it.
var ErrBusy = errors.New("pcl: the learner is busy with another call: it serves one at a time")

// enter begins a call to the learner, which leave ends. A learner that a failure stopped takes no call
// but those that say so with stopped.
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

// leave ends a call and publishes what other goroutines may read meanwhile.
func (l *Learner) leave() {
	l.publish()
	l.busy.Unlock()
}

// usable says why the learner cannot go on, if it cannot.
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

// Arrived returns how many tasks have been attached so far. The next one gets the id after that. It
// may be called from any goroutine.
func (l *Learner) Arrived() int { return l.status.Load().arrived }

// Active returns the ids of the rows that the next step will have, the memory's 0 first. It may be called
// from any goroutine.
func (l *Learner) Active() []int { return slices.Clone(l.status.Load().active) }

// recovered turns a panic of a user's code into an error that says whose it was.
func recovered(err *error, whose string) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%s panicked: %v", whose, r)
	}
}
