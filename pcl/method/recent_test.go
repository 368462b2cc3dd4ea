package method

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// This file has worked examples, limits and properties of the rules of 2025 and 2026.

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// TestDirectionsAlone: DiBS-MTL and NTKMTL do not see the lengths; without conflict or likeness the
// first is Nash-MTL.
func TestDirectionsAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 100 {
		s := sample{rows: gaussian(r, 2+r.IntN(6), 9)}
		get := func(name string, p values) []float64 {
			return direction(s.rows, weigh(t, build(t, name, p), s.step(1)))
		}
		want := get("dibs-mtl", nil)
		wants(t, unitVector(get("ntkmtl", nil)), unitVector(want), 1e-12, "ntkmtl goes along")
		scaled(s.rows[1:], math.Exp(9*r.NormFloat64()))
		wants(t, get("dibs-mtl", nil), want, 1e-12, "with other lengths dibs-mtl has")
		for i, row := range s.rows {
			clear(row)
			row[i] = 1 + r.ExpFloat64()
		}
		wants(t, get("dibs-mtl", nil), get("nash-mtl", values{"max_norm": math.Inf(1)}), 1e-9,
			"of orthogonal gradients dibs-mtl has")
	}
}

// TestLDCMTLDescends: its weights, and the step of its logits, are the derivatives of the function
// that it declares.
func TestLDCMTLDescends(t *testing.T) {
	const lambda, lr, h = .3, .5, 1e-6
	losses, logits := []float64{2, 1.2, .3, 1.5}, []float64{1, 1, 1, 1}
	slope := func(x []float64, i int) float64 { // by x[i], which is a loss or a logit
		sum := 0.0
		for _, z := range logits {
			sum += sigmoid(z)
		}
		at := func(v float64) (f float64) {
			old := x[i]
			x[i] = v
			defer func() { x[i] = old }()
			for j, l := range losses {
				f += sigmoid(logits[j]) * l / sum
				if j > 0 {
					f += lambda * math.Abs(sigmoid(logits[j])*l-sigmoid(logits[j-1])*losses[j-1])
				}
			}
			return f
		}
		return (at(x[i]+h) - at(x[i]-h)) / 2 / h
	}
	m := build(t, "ldc-mtl", values{"lambda": lambda, "lr": lr})
	for step := range 3 {
		want, moved := make([]float64, 4), make([]float64, 4)
		for i := range want {
			want[i], moved[i] = slope(losses, i), logits[i]-lr*slope(logits, i)
		}
		wants(t, weigh(t, m, sample{rows: gaussian(rand.New(rand.NewPCG(1, 1)), 4, 2), losses: losses}.step(1)), want, 1e-7,
			"step %d", step)
		copy(logits, moved)
	}
}

// TestSAMGSRemembers: a stream alone has Ψ = 1, and goes along its gradient times the size of its
// mean.
func TestSAMGSRemembers(t *testing.T) {
	m := build(t, "sam-gs", nil)
	for i, c := range [][2]float64{{2, 4}, {-4, -4 * .22 / .19}} { // m = .9·.2 − .1·4 = −.22
		if _, d := act(t, m, sample{rows: [][]float64{{c[0]}}}.step(1)); !near(d, []float64{c[1] * 1e3 / (1 + 1e-5)}, 1e-6) {
			t.Errorf("step %d: d = %v, want 1000 times %g", i, d, c[1])
		}
	}
}

// TestGCondArbitrates: of two gradients in conflict, the one that kept its direction wins or, by
// strength, the one that is longer than usual; none wins for ever.
func TestGCondArbitrates(t *testing.T) {
	turned := [][]float64{{-2, .1}, {1, 0}} // of (0, 1) and (1, 0)
	for stability, want := range map[float64][]float64{.8: {1, 3}, 0: {1 + 2/4.01, 1}} {
		t.Run(fmt.Sprint(stability), func(t *testing.T) {
			m := build(t, "gcond", values{"stability": stability})
			weigh(t, m, sample{rows: [][]float64{{0, 1}, {1, 0}}}.step(1))
			wants(t, weigh(t, m, sample{rows: turned}.step(1)), want, 1e-9, "stability %g", stability)
		})
	}
	m, first, second := build(t, "gcond", nil), []float64{1 + 22./18, 1}, []float64{1, 1 + 22./38}
	for i, want := range [][]float64{first, first, first, second, first} {
		wants(t, weigh(t, m, sample{rows: base}.step(1)), want, 1e-9, "conflict %d", i)
	}
}
