package fail

import (
	"errors"
	"io"
	"testing"
)

// TestFail: an error ends the work that is under way, gets the places it passes, and is returned at the door; a panic of others'
// code is an error only where it is expected.
func TestFail(t *testing.T) {
	read := func(end func()) func() {
		return func() {
			defer At("file")
			defer Foreign("a damaged picture")
			end()
			t.Error("the work went on")
		}
	}
	for want, end := range map[string]func(){
		"file: EOF":                  func() { Or(0, io.EOF) },
		"file: line 3: EOF":          func() { defer At("line 3"); If(io.EOF) },
		"file: 2 lines: EOF":         func() { When(true, "%d lines: %w", 2, io.EOF) },
		"file: a damaged picture: x": func() { panic("x") },
	} {
		if err := Tried(read(end)); err == nil || err.Error() != want || errors.Is(err, io.EOF) == (want[len(want)-1] == 'x') {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if err := Tried(func() { If(nil); When(false, "no"); Or(1, nil) }); err != nil {
		t.Error(err)
	}
	defer func() {
		if recover() != "y" {
			t.Error("a panic did not go on")
		}
	}()
	_ = Tried(func() { defer At("file"); panic("y") })
}
