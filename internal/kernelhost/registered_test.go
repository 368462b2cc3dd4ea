package kernelhost

import (
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestMayTake: a cell that runs again replaces what a cell registered, and never what the module
// has.
func TestMayTake(t *testing.T) {
	const module, first, second = "", "hash 1", "hash 2"
	now := module
	c := &cells{current: func() (string, bool) { return now, now != module }, hashes: map[string]string{}}
	for _, step := range []struct {
		case_, by, kind, name string
		taken, may            bool
	}{
		{"the module takes a name", module, "method", "er", false, true},
		{"the module takes it twice", module, "method", "er", true, false},
		{"a cell takes the module's", first, "method", "er", true, false},
		{"a cell takes a free name", first, "method", "mine", false, true},
		{"the cell runs again", first, "method", "mine", true, true},
		{"the cell was changed", second, "method", "mine", true, true},
		{"the name in another registry", second, "model", "mine", true, false},
		{"the module takes a cell's", module, "method", "mine", true, false},
	} {
		t.Run(step.case_, func(t *testing.T) {
			if now = step.by; c.MayTake(step.kind, step.name, step.taken) != step.may {
				t.Errorf("it may: %v, want %v", !step.may, step.may)
			}
		})
	}
}

// TestProgram: the program's name changes with the cells that have registered something, and only
// with these.
func TestProgram(t *testing.T) {
	hash := "hash 1"
	c := &cells{source: "abc", current: func() (string, bool) { return hash, true }, hashes: map[string]string{}}
	name := func() string { return must.Get(c.program())(t) }
	if name() != "source-abc" {
		t.Errorf("without cells it is %s, want source-abc", name())
	}
	c.MayTake("method", "mine", false)
	before := name()
	if c.MayTake("method", "mine", true); name() != before {
		t.Errorf("the same cell again makes %s of %s", name(), before)
	}
	hash = "hash 2"
	if c.MayTake("method", "mine", true); name() == before {
		t.Errorf("a changed cell leaves the program %s", before)
	}
}
