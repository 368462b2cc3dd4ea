package nb

import (
	"testing"
	"time"
)

// TestEditedType: a value of a type whose fields were edited is made anew.
func TestEditedType(t *testing.T) {
	t.Chdir(t.TempDir())
	func() {
		type Result struct{ A, B float64 }
		if _, err := Keep("r", func() (Result, error) { return Result{1, 2}, nil }); err != nil {
			t.Error(err)
		}
	}()
	type Result struct{ A, C float64 }
	if v, err := Keep("r", func() (Result, error) { return Result{10, 30}, nil }); v != (Result{10, 30}) || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

type loop struct {
	Next *loop
	All  map[string][]loop
	When time.Time
	own  int
}

// TestShape: a type may have itself in its fields; what gob does not keep does not matter.
func TestShape(t *testing.T) {
	_ = loop{own: 1}
	want := "nb.loop {Next *nb.loop; All map[string][]nb.loop; When time.Time; }"
	if got := shapeOf[loop](); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
