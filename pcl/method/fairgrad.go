package method

import (
	"math"

	"github.com/parallelcl/parallelcl/emgd"
)

func init() {
	Register(Info{
		Name: "fairgrad", Title: "FairGrad", Family: "mtl",
		Rule:   "(Mw)ᵢ = wᵢ^(−1/α), w > 0",
		Source: "Ban & Ji, Fair Resource Allocation in Multi-Task Learning, ICML 2024 (arXiv 2402.15638)",
		Cost:   "K(F+B) + Gram O(K²P) + a K×K Newton method", State: "none", SumW: "not fixed",
	}, func() Method { return new(FairGrad) })
}

// FairGrad shares the progress by α-fairness (docs/method.md §4.10). Where the gradients have 0 in
// their convex hull there is no solution, and d is 0, as in Nash-MTL.
type FairGrad struct {
	Alpha float64 `param:"alpha" default:"1" range:"[0.1,10]" doc:"α in [0.1, 10], the kind of fairness: 1 proportional (Nash), large max-min (the direction of MGDA)"`

	setup
	solver emgd.Solver
}

// Needs asks for the Gram matrix.
func (*FairGrad) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *FairGrad) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return bargain(&m.solver, s, w, m.Alpha, math.Inf(1))
}
