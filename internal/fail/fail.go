// Package fail lets work that is made of many steps end where an error is found: the error is raised there, and returned by
// the function at the door, which defers [Caught].
package fail

type failure struct{ error }

// If ends the work if there is an error.
func If(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Or returns a value, or ends the work if there is an error.
func Or[T any](v T, err error) T {
	If(err)
	return v
}

// Caught makes the error that ended the work the one that the function returns. Other panics go on.
func Caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case failure:
		*err = p.error
	default:
		panic(p)
	}
}
