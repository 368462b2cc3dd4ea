// Package must ends a test on an error that it does not expect.
package must

// T is a test, a benchmark, a fuzz target or a check of rapid.
type T interface {
	Helper()
	Fatal(...any)
}

// Do ends the test on an error.
func Do(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get gives the value that came without an error: x := must.Get(f())(t).
func Get[X any](x X, err error) func(T) X {
	return func(t T) X {
		t.Helper()
		Do(t, err)
		return x
	}
}
