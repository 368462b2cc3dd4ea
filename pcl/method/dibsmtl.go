package method

import (
	"fmt"
	"math"
)

func init() {
	Register(Info{
		Name: "dibs-mtl", Title: "DiBS-MTL", Family: "mtl",
		Rule: "d = Σ Jᵢ/‖Jᵢ‖",
		Source: "Murthy et al., Monotonic Transformation Invariant Multi-task Learning, arXiv 2509.23948, with one step of " +
			"its bargaining",
		Cost: "K(F+B) + Gram O(K²P)", State: "none", SumW: "Σ 1/‖Jᵢ‖",
	}, func() Method { return new(DiBSMTL) })
}

// DiBSMTL sums the directions of the gradients, so that no increasing function of a loss in place
// of the loss changes its step. The bargaining moves along Σ rᵢJᵢ/‖Jᵢ‖, where rᵢ is the distance to
// the point that stream i prefers. In its first step, the practical form of the paper, all rᵢ are
// the radius within which the points are sought, which belongs to the step size here.
type DiBSMTL struct{}

// Needs asks for the Gram matrix.
func (*DiBSMTL) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *DiBSMTL) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, func(r *rows) ([]float64, error) {
		r.balance()
		v := r.norms()
		for i, norm := range v {
			if v[i] = 1 / norm / r.unit[i]; math.IsInf(v[i], 1) {
				return nil, fmt.Errorf("the weight of stream %d leaves the range of float64; rescale the gradients", s.IDs[r.at[i]])
			}
		}
		return v, nil
	})
}
