package method

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// Tests of this file compare the small convex problems with their optimality conditions or a slow
// exact solution, on thousands of random Gram matrices: 1 to 12 rows, full rank and not, gradients
// of 1e-15 to 1e15.

// problem draws a Gram matrix. Rows may differ in length by many powers of ten.
func problem(r *rand.Rand) *rows {
	k := 1 + r.IntN(12)
	p := gaussian(r, k, 1+r.IntN(k+4))
	spread := float64(r.IntN(2)) * 4
	level := math.Pow(10, float64(r.IntN(31)-15))
	for i := range p {
		scaled(p[i:i+1], level*math.Pow(10, spread*(r.Float64()-.5)))
	}
	s := sample{rows: p}.step(1)
	kept := keep(s, make([]float64, k))
	kept.level()
	return kept
}

// TestConeKKT: v ≥ u, Jᵢ·d ≥ 0, and Jᵢ·d = 0 where vᵢ > uᵢ.
func TestConeKKT(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	var c cone
	worst := 0.0
	for range 1500 {
		p := problem(r)
		u := make([]float64, p.k())
		for i := range u {
			u[i] = r.Float64()
		}
		v := must.Get(c.project(p.gram, u))(t)
		n, size := p.norms(), p.size(v)
		for i, gain := range times(p.gram, v) {
			if v[i] < u[i] {
				t.Fatalf("v = %v < u = %v", v, u)
			}
			breach := -gain
			if (v[i]-u[i])*n[i] > 1e-6*size {
				breach = math.Abs(gain)
			}
			worst = max(worst, breach/n[i]/size)
		}
	}
	if worst > 1e-6 {
		t.Errorf("a condition is broken by %g of ‖Jᵢ‖·Σ vⱼ‖Jⱼ‖", worst)
	}
}

// TestCAGradOptimal: the primal and the dual value are the same, and no d of the ball does better.
func TestCAGradOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 1))
	worst := 0.0
	for range 1000 {
		p := problem(r)
		m := &CAGrad{C: new([]float64{.1, .5, 1, 3}[r.IntN(4)])}
		v := must.Get(m.averse(p))(t)
		k := p.k()
		mean, g := make([]float64, k), make([]float64, k)
		fill(mean, 1/float64(k))
		total := 0.0
		for i := range g {
			g[i] = v[i] - mean[i]
			total += g[i]
		}
		radius, size := *m.C*normOf(p.gram, mean), p.size(v)
		if n := normOf(p.gram, g); n > radius+1e-6*size {
			t.Fatalf("‖d−g₀‖ = %g outside the ball of radius %g", n, radius)
		}
		least := math.Inf(1)
		for i, gain := range times(p.gram, v) {
			least = min(least, gain)
			if g[i] < -1e-12*total {
				t.Fatalf("g_w has the weight %g", g[i])
			}
		}
		if total == 0 {
			continue
		}
		// The dual value at any w bounds the best smallest Jᵢ·d from above: here at g_w, and at the
		// min-norm point, where it is 0 if the hull contains 0.
		dual := math.Inf(1)
		mu := must.Get((&shifted{}).solve(p.gram, 0, k))(t)
		for _, w := range [][]float64{scaled([][]float64{g}, 1/total)[0], mu} {
			dual = min(dual, inner(w, times(p.gram, mean))+radius*normOf(p.gram, w))
		}
		worst = max(worst, (dual-least)/size)
	}
	if worst > 1e-6 {
		t.Errorf("duality gap %g of the longest gradient's square", worst)
	}
}

// TestSDMGradOptimal: the conditions of the min-norm point of Jᵢ + λg₀.
func TestSDMGradOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 1))
	worst := 0.0
	for range 1500 {
		p := problem(r)
		k, lambda := p.k(), []float64{0, .3, 1, 100}[r.IntN(4)]
		mu := must.Get((&shifted{}).solve(p.gram, lambda, k))(t)
		x, shift := make([]float64, k), 0.0
		for i := range x {
			x[i] = mu[i] + lambda/float64(k)
		}
		gain := times(p.gram, x) // Jᵢ·d
		for _, v := range gain {
			shift += lambda / float64(k) * v
		}
		size := p.size(x)
		norm2 := inner(x, gain)
		for i := range gain {
			worst = max(worst, (norm2-gain[i]-shift)/size/size)
		}
	}
	if worst > 1e-6 {
		t.Errorf("a condition is broken by %g of (Σ wⱼ‖Jⱼ‖)²", worst)
	}
}

// TestMaxDOOptimal: the largest relative distance equals the dual bound R² = 1 − ‖d‖²/Σ wᵢ‖Jᵢ‖².
func TestMaxDOOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 1))
	worst := 0.0
	for range 1000 {
		p := problem(r)
		v := must.Get((&MaxDOMinMax{}).closest(p))(t)
		if math.Abs(sumOf(v)-1) > 1e-12 {
			t.Fatalf("Σw = %g", sumOf(v))
		}
		gain, norm2, squares, far := times(p.gram, v), 0.0, 0.0, 0.0
		norm2 = inner(v, gain)
		for i, x := range v {
			if x < 0 {
				t.Fatalf("weights %v", v)
			}
			squares += x * p.dot(i, i)
			far = max(far, 1+(norm2-2*gain[i])/p.dot(i, i))
		}
		worst = max(worst, far-(1-norm2/squares))
	}
	if worst > 1e-6 {
		t.Errorf("the largest squared relative distance is %g above its lower bound", worst)
	}
}

// TestFairnessResidual: (Mw)ᵢ = wᵢ^(−1/α) wherever a solution exists.
func TestFairnessResidual(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 1))
	worst, solutions := 0.0, 0
	for range 1500 {
		k := 1 + r.IntN(12)
		s := sample{rows: gaussian(r, k, 1+r.IntN(k+4))}
		for i := range s.rows {
			scaled(s.rows[i:i+1], math.Pow(10, 6*(r.Float64()-.5)))
		}
		scaled(s.rows, math.Pow(10, float64(r.IntN(31)-15)))
		alpha := []float64{.1, .5, 1, 2, 10}[r.IntN(5)]
		step, w := s.step(1), make([]float64, k)
		out, err := build(t, "fairgrad", values{"alpha": alpha}).Weights(step, w)
		if err != nil {
			t.Fatalf("%v: α = %g, %v", err, alpha, s.rows)
		}
		if out.Certificate != nil {
			continue
		}
		solutions++
		for i, gain := range times(step.Gram, w) {
			size := 0.0
			for j, x := range w {
				size += x * math.Abs(step.Gram[i*k+j])
			}
			worst = max(worst, math.Abs(gain-math.Pow(w[i], -1/alpha))/size)
		}
	}
	if worst > 1e-8 || solutions < 600 {
		t.Errorf("worst relative residual %g in %d solutions", worst, solutions)
	}
}
