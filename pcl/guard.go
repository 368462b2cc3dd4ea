package pcl

import "github.com/parallelcl/parallelcl/internal/fail"

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

// wholly makes a change that is of no use by half, with code that is not the learner's own. If it fails, the learner stops for
// good.
func (l *Learner) wholly(whose string, change func()) {
	l.failure = guarded(whose, change)
	fail.If(l.failure)
}
