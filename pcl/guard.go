package pcl

import (
	"errors"

	"github.com/parallelcl/parallelcl/internal/fail"
)

// ErrClosed is returned by calls to a learner after [Learner.Close], and to a predictor after [Predictor.Close].
var ErrClosed = errors.New("pcl: the learner or predictor is closed")

// A call to a learner or a predictor is made of many steps, and most of what can fail in one is of no use to those in between:
// the device, a method, a saved state that does not fit. Such an error ends the call (package fail), which returns it. Only
// errors that somebody on the way acts on, as those of a stream, are returned from function to function. Where code is called
// that is not the learner's own, a stream, a method or a hook, its panics are errors, too, which say whose it was.

// guarded calls code that is not the learner's own, and returns the error that ended it.
func guarded(whose string, call func()) error {
	return fail.Tried(func() {
		defer fail.Foreign(whose + " panicked")
		call()
	})
}
