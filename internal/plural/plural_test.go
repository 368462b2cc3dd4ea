package plural_test

import (
	"testing"

	"github.com/parallelcl/parallelcl/internal/plural"
)

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 runs", 1: "1 run", 2: "2 runs"} {
		if got := plural.Of(n, "run"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
