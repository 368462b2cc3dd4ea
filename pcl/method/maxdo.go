package method

import (
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

var _ = published(Info{
	Name: "maxdo-minmax", Title: "MaxDO (min-max)", Family: "pcl",
	Rule:   "the d in the convex hull of the gradients for which the largest ‖d−Jᵢ‖/‖Jᵢ‖ is smallest",
	Source: "after Lyu et al., Measuring Asymmetric Gradient Discrepancy in Parallel Continual Learning, ICCV 2023",
	Cost:   "K(F+B) + Gram O(K²P) + about 60 K×K duals", State: "none", SumW: "1",
	NeedsGram: true,
}, MaxDOMinMax{})

// MaxDOMinMax minimises the largest relative distance to a gradient (docs/method.md §6), a smallest enclosing
// ball with weights 1/‖Jᵢ‖. A ball with ‖d−Jᵢ‖² ≤ (1−ρ)‖Jᵢ‖² for all i has 2Jᵢ·d ≥ ‖d‖² + ρ‖Jᵢ‖²;
// with ρ = κ‖d‖² that is what the EMGD dual with σᵢ = 1 + κ‖Jᵢ‖² guarantees to d/2. So d is twice an
// EMGD step, for the κ with the largest ρ, and that is where its weights sum to 1. Their sum falls
// as κ grows, and κ is the reciprocal of a mean of the ‖Jᵢ‖², which brackets it.
type MaxDOMinMax struct {
	solver emgd.Solver
	sigma  []float64
}

func (m *MaxDOMinMax) weights(s *Step, w []float64) Outcome { return s.onRows(w, m.closest) }

func (m *MaxDOMinMax) closest(r *rows) []float64 {
	shortest, longest := math.Inf(1), 0.0
	for i := range r.k() {
		shortest, longest = min(shortest, r.dot(i, i)), max(longest, r.dot(i, i))
	}
	lo, hi := crossing(1/longest, 1/shortest, func(kappa float64) bool { return sumOf(m.elastic(r, kappa)) > 0.5 })
	v := slices.Clone(m.elastic(r, lo))
	above, short := sumOf(v), m.elastic(r, hi)
	// Dependent gradients let the weights, not d, jump across ½ here: what lies between has the same d.
	if below := sumOf(short); below < above {
		t := max(0, min(1, (above-0.5)/(above-below)))
		for i := range v {
			v[i] += t * (short[i] - v[i])
		}
	}
	sum := sumOf(v)
	for i := range v {
		v[i] /= sum
	}
	return v
}

// elastic returns the dual's λ for σᵢ = 1 + κ‖Jᵢ‖²; it belongs to the solver.
func (m *MaxDOMinMax) elastic(r *rows, kappa float64) []float64 {
	m.sigma = fp.Grow(m.sigma, r.k())
	for i := range m.sigma {
		m.sigma[i] = 1 + kappa*r.dot(i, i)
	}
	return solved(&m.solver, problemOf(r.gram), m.sigma).Lambda
}
