package method

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestCRMOGM smooths, and lets streams come and go without a jump in the sum.
func TestCRMOGM(t *testing.T) {
	m := stateful(t, build(t, "cr-mogm", params{"method": "mgda", "alpha": .75}))
	weigh(t, m, sample{rows: base}.step(1)) // .6, .4
	swapped := sample{rows: [][]float64{base[1], base[0]}}.step(1)
	if w := weigh(t, m, swapped); !near(w, []float64{.55, .45}, 1e-12) {
		t.Errorf("second step: %v, want .55 .45", w)
	}
	s := sample{rows: three}.step(1) // MGDA: .8 .2 0
	if w := weigh(t, m, s); math.Abs(total(w)-1) > 1e-12 {
		t.Errorf("a stream joined: Σw = %g, want 1", total(w))
	}
	m.End(2)
	if w := weigh(t, m, sample{rows: base}.step(1)); math.Abs(total(w)-1) > 1e-12 {
		t.Errorf("a stream left: Σw = %g, want 1", total(w))
	}
}

// TestCRMOGMKeepsTheInnerState: what the smoothed method remembers is saved with the weights.
func TestCRMOGMKeepsTheInnerState(t *testing.T) {
	p, s := params{"method": "gradnorm"}, sample{rows: pair, losses: []float64{1, 2}}.step(1)
	a, b := stateful(t, build(t, "cr-mogm", p)), stateful(t, build(t, "cr-mogm", p))
	for range 5 {
		weigh(t, a, s)
	}
	state, err := a.MarshalState()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.UnmarshalState(state); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if want, got := weigh(t, a, s), weigh(t, b, s); !slices.Equal(got, want) {
			t.Fatalf("restored: %v, want %v", got, want)
		}
	}
	if err := b.UnmarshalState([]byte(`{"weights":{},"inner":{"1":{"w":-1}}}`)); err == nil || !strings.Contains(err.Error(), "gradnorm") {
		t.Errorf("a damaged inner state: error %v", err)
	}
}
