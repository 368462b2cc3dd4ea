package method

import "gonum.org/v1/gonum/floats"

func init() {
	Register(Info{
		Name: "cagrad", Title: "CAGrad", Family: "mtl",
		Rule: "among all d with ‖d−g₀‖ ≤ c‖g₀‖, where g₀ is the mean gradient, the one with the " +
			"largest minimum of Jᵢ·d: d = g₀ + c‖g₀‖·g_w/‖g_w‖, w on the simplex",
		Source: "Liu et al., Conflict-Averse Gradient Descent for Multi-task Learning, NeurIPS 2021 (arXiv 2110.14048)",
		Cost:   "K(F+B) + Gram O(K²P) + about 60 K×K duals", State: "none", SumW: "1 + c·‖g₀‖/‖g_w‖",
	}, func() Method { return new(CAGrad) })
}

// CAGrad is Conflict-Averse Gradient Descent (Liu et al. 2021): of the directions within c‖g₀‖ of
// the mean gradient g₀ it takes the one whose smallest inner product with a gradient is largest. It
// minimises g_w·g₀ + c‖g₀‖‖g_w‖ over the simplex (docs/method.md §4.9). Since r‖g‖ is the least
// ‖g‖²/2λ + r²λ/2 over λ > 0, its w is that of the shifted min-norm problem min ‖g_w + λg₀‖² for
// the λ with λ·c‖g₀‖ = ‖g_w‖. As ‖g_w‖/λ falls with λ, λ is bisected, and every w on the way is
// exact. Where ‖g_w‖/λ is below c‖g₀‖ down to λ = 0, the streams cannot all improve at once, the
// best smallest Jᵢ·d is 0, and of the many d that reach it the limit λ → 0 is taken: the projection
// of g₀ that DualProj makes.
type CAGrad struct {
	C      *float64      `param:"c" default:"0.5" range:"[0,1e6]" doc:"c ≥ 0, radius of the ball around the mean gradient, relative to its length: 0 gives the mean, a large c the direction of MGDA"`
	Divide CAGradDivisor `param:"divide" default:"1" choices:"1,1+c,1+c^2" doc:"what the weights are divided by; published codes use 1 or 1+c^2"`

	setup
	dual shifted // reused between steps
	cone cone
}

// Needs asks for the Gram matrix.
func (*CAGrad) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *CAGrad) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, func(r *rows) ([]float64, error) {
		v, err := m.averse(r)
		floats.Scale(m.factor(), v)
		return v, err
	})
}

func (m *CAGrad) averse(r *rows) ([]float64, error) {
	k, v := r.k(), even(r.k())
	mean := normOf(r.gram, v)
	radius := *m.C * mean
	if *m.C == 0 || mean <= cancelled*r.size(v) {
		return v, nil // the ball is a point: g₀ itself, or 0 up to rounding
	}
	limit, err := m.cone.project(r.gram, v)
	if err != nil {
		return nil, err
	}
	beyond := normOf(r.gram, floats.SubTo(make([]float64, k), limit, v)) > radius
	// ‖g_w‖ ≤ max‖J‖ < 2 bounds λ from above.
	lo, hi, err := crossing(nearlyZero/radius, 2/radius, func(lambda float64) (bool, error) {
		mu, err := m.dual.solve(r.gram, lambda, k)
		if err != nil {
			return false, err
		}
		n := normOf(r.gram, mu)
		if n <= cancelled*r.size(mu) {
			return beyond, nil // n is rounding: λ is so small that ‖g_w‖/λ is its limit
		}
		return lambda*radius < n, nil
	})
	if err != nil {
		return nil, err
	}
	mu, err := m.dual.solve(r.gram, lo+(hi-lo)/2, k)
	if err != nil {
		return nil, err
	}
	n := normOf(r.gram, mu)
	if n <= cancelled*r.size(mu) {
		return limit, nil
	}
	for i, x := range mu {
		v[i] += radius / n * x
	}
	return v, nil
}

// nearlyZero is the ‖g_w‖, with the longest gradient between 1 and 2, that counts as 0: rows that
// are not dropped are longer.
const nearlyZero = 1e-13

// factor is what the weights are multiplied by.
func (m *CAGrad) factor() float64 {
	switch c := *m.C; m.Divide {
	case CAGradOver1PlusC:
		return 1 / (1 + c)
	case CAGradOver1PlusC2:
		return 1 / (1 + c*c)
	}
	return 1
}
