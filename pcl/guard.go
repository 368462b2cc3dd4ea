package pcl

import (
	"errors"
	"fmt"
)

// ErrClosed is returned by calls to a learner after [Learner.Close], and to a predictor after
// [Predictor.Close].
var ErrClosed = errors.New("pcl: the learner or predictor is closed")

// recovered is the door at which a panic of code that is not the learner's own, a stream, a method
// or a hook, becomes an error of the function that defers it. what says whose panic it was.
func recovered(err *error, what string) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%s: %v", what, p)
	}
}

// guarded calls code that is not the learner's own.
func guarded(whose string, call func() error) (err error) {
	defer recovered(&err, whose+" panicked")
	return call()
}
