package method

import (
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() {
	Register(Info{
		Name: "maxdo-minmax", Title: "MaxDO (min-max)", Family: "pcl",
		Rule:   "the d in the convex hull of the gradients for which the largest ‖d−Jᵢ‖/‖Jᵢ‖ is smallest",
		Source: "after Lyu et al., Measuring Asymmetric Gradient Discrepancy in Parallel Continual Learning, ICCV 2023",
		Cost:   "K(F+B) + Gram O(K²P) + about 60 K×K duals", State: "none", SumW: "1",
	}, func() Method { return new(MaxDOMinMax) })
}

// MaxDOMinMax minimises the largest relative distance to a gradient (docs/method.md §6), a smallest
// enclosing ball with weights 1/‖Jᵢ‖. A ball with ‖d−Jᵢ‖² ≤ (1−ρ)‖Jᵢ‖² for all i has 2Jᵢ·d ≥ ‖d‖² +
// ρ‖Jᵢ‖²; with ρ = κ‖d‖² that is what the EMGD dual with σᵢ = 1 + κ‖Jᵢ‖² guarantees to d/2. So d is
// twice an EMGD step, for the κ with the largest ρ, and that is where its weights sum to 1. Their
// sum falls as κ grows, and κ is the reciprocal of a mean of the ‖Jᵢ‖², which brackets it.
type MaxDOMinMax struct {
	solver emgd.Solver
	sigma  []float64
}

// Needs asks for the Gram matrix.
func (*MaxDOMinMax) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *MaxDOMinMax) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, m.closest)
}

func (m *MaxDOMinMax) closest(r *rows) ([]float64, error) {
	shortest, longest := math.Inf(1), 0.0
	for i := range r.k() {
		shortest, longest = min(shortest, r.dot(i, i)), max(longest, r.dot(i, i))
	}
	lo, hi, err := crossing(1/longest, 1/shortest, func(kappa float64) (bool, error) {
		lambda, err := m.elastic(r, kappa)
		return sumOf(lambda) > 0.5, err
	})
	if err != nil {
		return nil, err
	}
	long, err := m.elastic(r, lo)
	if err != nil {
		return nil, err
	}
	v := slices.Clone(long)
	short, err := m.elastic(r, hi)
	if err != nil {
		return nil, err
	}
	above := sumOf(v)
	// Dependent gradients let the weights, not d, jump across ½ here: all weights in between have
	// the same d.
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
	return v, nil
}

// elastic returns the dual's λ for σᵢ = 1 + κ‖Jᵢ‖²; it belongs to the solver.
func (m *MaxDOMinMax) elastic(r *rows, kappa float64) ([]float64, error) {
	m.sigma = fp.Grow(m.sigma, r.k())
	for i := range m.sigma {
		m.sigma[i] = 1 + kappa*r.dot(i, i)
	}
	return lambdas(&m.solver, r.gram, m.sigma)
}
