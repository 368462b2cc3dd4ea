package pcl

import (
	"fmt"
	"runtime"
	"strings"
)

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

// withinGuarded reports whether this goroutine runs such code.
func withinGuarded() bool {
	callers := make([]uintptr, 256)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "/pcl.guarded.func1") {
			return true
		}
		if !more {
			return false
		}
	}
}
