package method

import (
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() {
	Register(Info{
		Name: "mgda", Title: "MGDA", Family: "mtl",
		Rule: "d = Σ μᵢJᵢ with the μ on the simplex that minimises ‖Σ μᵢJᵢ‖²",
		Source: "Désidéri, C. R. Math. 350, 2012; Sener & Koltun, Multi-Task Learning as Multi-Objective Optimization, " +
			"NeurIPS 2018",
		Cost: "K(F+B) + Gram O(K²P)", State: "none", SumW: "1 (norm=none)",
	}, func() Method { return new(MGDA) })
}

// MGDA is the min-norm point of the gradients' convex hull (docs/method.md §4.2): the EMGD dual
// with every σᵢ = 1. Normalisation divides row i by cᵢ, which is the dual with σᵢ = cᵢ up to the
// weights' scale: μᵢ over Jᵢ/cᵢ gives Jᵢ the weight μᵢ/cᵢ, and Σμᵢ = Σ cᵢ(μᵢ/cᵢ) = 1. The code of
// Sener & Koltun steps along Σ μᵢJᵢ instead.
type MGDA struct {
	Norm GradientNorm `param:"norm" default:"none" choices:"none,l2,loss,loss+" doc:"what each gradient is divided by before the weights are computed: 1, ‖Jᵢ‖, ℓᵢ or ℓᵢ‖Jᵢ‖"`

	setup
	solver emgd.Solver
	sigma  []float64
}

// Needs says what the method reads of a step: also the losses where the gradients are scaled by
// them.
func (m *MGDA) Needs() Needs {
	losses := m.Norm == NormLoss || m.Norm == NormLossL2
	return Needs{Gram: true, Losses: losses, PositiveLosses: losses}
}

// Weights writes the weights of one step to w.
func (m *MGDA) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	m.sigma = fp.Grow(m.sigma, s.k())
	for i, length := range s.lengths() {
		c := 1.0
		if m.Norm == NormL2 || m.Norm == NormLossL2 {
			c *= length
		}
		if m.Norm == NormLoss || m.Norm == NormLossL2 {
			c *= s.Losses[i]
		}
		m.sigma[i] = c
	}
	if slices.Max(m.sigma) == 0 {
		fill(m.sigma, 1) // every loss or gradient is 0: there is no scale to divide by
	}
	return solve(&m.solver, s, m.sigma, w)
}
