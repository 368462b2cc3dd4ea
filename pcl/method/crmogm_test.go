package method

import (
	"math"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestCRMOGM smooths, and lets streams come and go without a jump in the sum.
func TestCRMOGM(t *testing.T) {
	m := stateful(t, build(t, "cr-mogm", values{"method": "mgda", "alpha": .75}))
	weigh(t, m, sample{rows: base}.step(1)) // .6, .4
	swapped := sample{rows: [][]float64{base[1], base[0]}}.step(1)
	wants(t, weigh(t, m, swapped), []float64{.55, .45}, 1e-12, "second step")
	s := sample{rows: three}.step(1) // MGDA: .8 .2 0
	if w := weigh(t, m, s); math.Abs(total(w)-1) > 1e-12 {
		t.Errorf("a stream joined: Σw = %g, want 1", total(w))
	}
	m.End(2)
	if w := weigh(t, m, sample{rows: base}.step(1)); math.Abs(total(w)-1) > 1e-12 {
		t.Errorf("a stream left: Σw = %g, want 1", total(w))
	}
}

// TestCRMOGMDropsNothing: a row that the smoothed method leaves out keeps its part of the weight
// that it had, and so the outcome does not name it as one of weight 0.
func TestCRMOGMDropsNothing(t *testing.T) {
	m := build(t, "cr-mogm", nil)
	weigh(t, m, sample{rows: base}.step(1))
	w := make([]float64, 2)
	out, err := m.Weights(sample{rows: [][]float64{make([]float64, len(base[0])), base[1]}}.step(1), w)
	switch {
	case err != nil:
		t.Error(err)
	case w[0] <= 0:
		t.Errorf("w[0] is %g; want more than 0", w[0])
	case out.Dropped != nil:
		t.Errorf("out.Dropped is %v; want nil", out.Dropped)
	}
}

// TestCRMOGMKeepsTheInnerState: the state of the smoothed method is saved with the weights.
func TestCRMOGMKeepsTheInnerState(t *testing.T) {
	p, s := values{"method": "gradnorm"}, sample{rows: pair, losses: []float64{1, 2}}.step(1)
	a, b := stateful(t, build(t, "cr-mogm", p)), stateful(t, build(t, "cr-mogm", p))
	for range 5 {
		weigh(t, a, s)
	}
	state := must.Get(a.MarshalState())(t)
	must.Do(t, b.UnmarshalState(state))
	for range 5 {
		if want, got := weigh(t, a, s), weigh(t, b, s); !slices.Equal(got, want) {
			t.Fatalf("restored: %v, want %v", got, want)
		}
	}
	if err := b.UnmarshalState([]byte(`{"weights":{},"inner":{"1":{"w":-1}}}`)); err == nil {
		t.Error("a damaged inner state: no error")
	}
}
