package pcl

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by calls of a learner after [Learner.Close]. The errors of a predictor after [Predictor.Close]
// match it.
var ErrClosed = errors.New("pcl: the learner is closed")

// errPredictorClosed is the [ErrClosed] of a predictor.
var errPredictorClosed error = predictorClosed{}

type predictorClosed struct{}

func (predictorClosed) Error() string {
	return "pcl: the predictor is closed: take another snapshot of the learner"
}
func (predictorClosed) Is(target error) bool { return target == ErrClosed }

// ErrBusy is what a call of a learner returns while another call is in progress. That call may be in another
// goroutine, or it may be the one that made this call, when a stream calls the learner that is reading it.
var ErrBusy = errors.New("pcl: the learner is busy with another call: it serves one at a time")

// guarded calls code that is not the learner's own. It returns a panic as an error that says whose code it was, and so it does
// where the code ends its goroutine, which is one of its own for that reason.
func guarded(whose string, call func() error) error {
	done := make(chan error, 1)
	go func() {
		err := fmt.Errorf("%s ended the goroutine that it was called in (runtime.Goexit, as FailNow and Fatal of a test do)", whose)
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
