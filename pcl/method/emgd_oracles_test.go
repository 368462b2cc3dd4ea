package method

import (
	"math/rand/v2"
	"testing"
)

// The worked examples of docs/method.md §9, rows in the order [memory, tasks].
var (
	base  = [][]float64{{-4, 1, 1}, {6, 1, 1}}
	three = [][]float64{{1, 0, 0}, {0, 2, 0}, {2, 2, 1}}
	pair  = [][]float64{{-1, 1}, {2, 0}}
)

type values = map[string]any

// TestLimits checks the table of docs/method.md §2.7 on random gradients.
func TestLimits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		k := 2 + r.IntN(6)
		s := sample{rows: gaussian(r, k, k+2)}
		for _, name := range []string{"emgd-gmc", "emgd-gs"} {
			equal(t, name, "inf", s, float64(k))
		}
		s.rows = s.rows[:2]
		equal(t, "emgd-gs", []string{"0.1", "1", "20"}[r.IntN(3)], s, 2)
	}
}

// equal checks that emgd is factor × mgda.
func equal(t *testing.T, name, tau string, s sample, factor float64) {
	t.Helper()
	got := weigh(t, build(t, name, values{"tau": tau}), s.step(1))
	want := weigh(t, build(t, "mgda", nil), s.step(1))
	scaled([][]float64{want}, factor)
	wants(t, got, want, 1e-9, "%s with τ = %s on %d rows", name, tau, len(got))
}

// TestColdLimit: as τ → 0, GMC projects the longest gradient as GEM does, here with one constraint.
func TestColdLimit(t *testing.T) {
	w := weigh(t, build(t, "emgd-gmc", values{"tau": 1e-3}), sample{rows: [][]float64{{6, 1, 1}, {-4, 1, 1}}}.step(1))
	if want := []float64{1, 22. / 18}; !near(w, want, 1e-4) {
		t.Errorf("λ = %v, want %v", w, want)
	}
}

// TestMomentumZero: without momentum the factors follow the norms of the step alone.
func TestMomentumZero(t *testing.T) {
	long := sample{rows: [][]float64{{600, 100, 100}, {-4, 1, 1}}}
	forgets, fresh := build(t, "emgd-gmc", values{"momentum": 0}), build(t, "emgd-gmc", nil)
	weigh(t, forgets, long.step(1))
	if got, want := weigh(t, forgets, sample{rows: base}.step(1)),
		weigh(t, fresh, sample{rows: base}.step(1)); !near(got, want, 1e-15) {
		t.Errorf("after a step with long gradients: %v, want those of a first step, %v", got, want)
	}
}

// TestMGDALosses: a task of one class has loss and gradient 0; that is no error.
func TestMGDALosses(t *testing.T) {
	for _, norm := range []string{"l2", "loss", "loss+"} {
		t.Run(norm, func(t *testing.T) {
			m := build(t, "mgda", values{"norm": norm})
			s := sample{rows: [][]float64{{0, 0}}, losses: []float64{0}}
			weigh(t, m, s.step(1))
			s = sample{rows: [][]float64{{0, 0}, {3, 4}}, losses: []float64{0, 2}}
			if w := weigh(t, m, s.step(1)); !(w[1] > 0) {
				t.Errorf("norm=%s beside a finished stream: weights %v", norm, w)
			}
		})
	}
}
