package pcl

import "fmt"

// guarded calls code that is not the learner's own: a stream, a method, a hook. It returns a panic as an error that says
// whose code it was.
func guarded(whose string, call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s panicked: %v", whose, r)
		}
	}()
	return call()
}
