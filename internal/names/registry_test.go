package names_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/names"
)

// adds reports whether a registry takes a name, and does not panic.
func adds(r *names.Registry[int], name string, x int) (taken bool) {
	defer func() { taken = recover() == nil }()
	r.Add(name, x)
	return true
}

// TestOnce: a name stands for one thing as long as the program runs.
func TestOnce(t *testing.T) {
	r := names.Registry[int]{Kind: "number"}
	for _, c := range []struct {
		case_, name string
		taken       bool
	}{{"a free name", "one", true}, {"a taken name", "one", false}, {"no name", "", false},
		{"another name", "two", true}} {
		t.Run(c.case_, func(t *testing.T) {
			if adds(&r, c.name, 1) != c.taken {
				t.Errorf("the name %q was taken: %v, want %v", c.name, !c.taken, c.taken)
			}
		})
	}
	if want := []string{"one", "two"}; !slices.Equal(r.Names(), want) {
		t.Errorf("names %q, want %q", r.Names(), want)
	}
	if _, err := r.Find("three"); err == nil || !strings.Contains(err.Error(), `unknown number "three"; known: one, two`) {
		t.Errorf("the error of a name that is not there is %v", err)
	}
}
