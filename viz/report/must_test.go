package report

// failer is a test.
type failer interface {
	Helper()
	Fatal(...any)
}

// noError ends the test on an error.
func noError(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must gives the value that came without an error: x := must(f())(t).
func must[T any](x T, err error) func(failer) T {
	return func(t failer) T {
		t.Helper()
		noError(t, err)
		return x
	}
}
