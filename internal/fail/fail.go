// Package fail lets work that is made of many steps end where an error is found: the error is raised there, and returned by
// the function at the door, which defers [Caught].
package fail

import "fmt"

type failure struct{ error }

// If ends the work if there is an error.
func If(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Now ends the work with an error, as of fmt.Errorf.
func Now(format string, args ...any) { If(fmt.Errorf(format, args...)) }

// When ends the work with an error, as of fmt.Errorf, if something is wrong. In a loop over many numbers, an if statement
// around [Now] is faster.
func When(wrong bool, format string, args ...any) {
	if wrong {
		Now(format, args...)
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

// Tried returns the error that ends do.
func Tried(do func()) (err error) {
	defer Caught(&err)
	do()
	return nil
}

// At puts a place, such as the name of a file, in front of the error that ends the function that defers it.
func At(place string) {
	switch p := recover().(type) {
	case nil:
	case failure:
		Now("%s: %w", place, p.error)
	default:
		panic(p)
	}
}

// Foreign makes a panic of the code of others, as of a decoder, an error that ends the function that defers it.
func Foreign(what string) {
	switch p := recover().(type) {
	case nil:
	case failure:
		panic(p)
	default:
		Now("%s: %v", what, p)
	}
}
