// Package must ends a test on an error that it does not expect, and finds the Python that a test
// needs.
package must

// test is a test, a benchmark, a fuzz target or a check of rapid.
type test interface {
	Helper()
	Fatal(...any)
}

// Do ends the test on an error.
func Do(t test, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get gives the value that came without an error: x := must.Get(f())(t).
func Get[X any](x X, err error) func(test) X {
	return func(t test) X {
		t.Helper()
		Do(t, err)
		return x
	}
}
