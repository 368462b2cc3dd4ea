package pcltest

import (
	"reflect"
	"testing"
)

// Equal fails the test unless a value, which what names, is the one that is wanted.
func Equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v; want %v", what, got, want)
	}
}
