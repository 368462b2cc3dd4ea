package pcl

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by calls to a learner after [Learner.Close], and to a predictor after [Predictor.Close].
var ErrClosed = errors.New("pcl: the learner or predictor is closed")

// ErrBusy is returned by calls to a learner while another call is in progress. That call may be in another goroutine, or
// it may be the one that made this call, when a stream calls the learner that is reading it.
var ErrBusy = errors.New("pcl: the learner is busy with another call: it serves one at a time")

// call makes one call to the learner, whose errors begin with its name.
func (l *Learner) call(name string, f func() error) error {
	_, err := get(l, name, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// get is call for a function that also returns a value.
func get[T any](l *Learner, name string, f func() (T, error)) (value T, err error) {
	if err := l.enter(false); err != nil {
		return value, err
	}
	defer l.leave()
	if value, err = f(); err != nil {
		err = fmt.Errorf("pcl: %s: %w", name, err)
	}
	return value, err
}

// enter begins a call; leave ends it. A learner that was stopped by a failure refuses all calls except those that pass
// stopped, which replace its state.
func (l *Learner) enter(stopped bool) error {
	if !l.busy.TryLock() {
		return ErrBusy
	}
	return l.entered(stopped)
}

// await is enter for calls that wait until the call in progress has ended.
func (l *Learner) await() error {
	l.busy.Lock()
	return l.entered(false)
}

// entered ends the call again if the learner cannot serve it.
func (l *Learner) entered(stopped bool) (err error) {
	switch {
	case l.closed.Load():
		err = ErrClosed
	case l.failure != nil && !stopped:
		err = fmt.Errorf("pcl: the learner stopped at step %d and cannot go on: load a checkpoint, or make a new learner: %w", l.step, l.failure)
	default:
		return nil
	}
	l.busy.Unlock()
	return err
}

// leave ends a call, and publishes what other goroutines may read while the next call is in progress.
func (l *Learner) leave() {
	defer l.busy.Unlock() // also if publish panics, so that Close does not wait for ever
	l.publish()
}

// guarded calls code that is not the learner's own: a stream, a method, a hook. It returns a panic as an error that says
// whose code it was, and so it does where the code ends its goroutine, which is one of its own for that reason.
func guarded(whose string, call func() error) error {
	done := make(chan error, 1)
	go func() {
		err := fmt.Errorf("%s ended its goroutine (runtime.Goexit, as FailNow and Fatal of a test do)", whose)
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("%s panicked: %v", whose, r)
			}
			done <- err
		}()
		err = call()
	}()
	return <-done
}
