package method

import (
	"math"

	"github.com/parallelcl/parallelcl/emgd"
)

func init() {
	Register(Info{
		Name: "imtl-g", Title: "IMTL-G", Family: "mtl",
		Rule: "d = Σ αᵢJᵢ with Σ αᵢ = 1, such that Jᵢ·d/‖Jᵢ‖ is the same for all i; α may be " +
			"negative, and the projection too: then every loss rises",
		Source: "Liu et al., Towards Impartial Multi-Task Learning, ICLR 2021",
		Cost:   "K(F+B) + Gram O(K²P) + a K×K eigenproblem", State: "none", SumW: "1",
	}, func() Method { return new(IMTLG) })
}

// IMTLG gives all gradients the same projection (docs/method.md §4.8): with unit rows U and their
// cosines C, αᵢ ∝ (C⁺1)ᵢ/‖Jᵢ‖. Where dependent gradients allow no such direction, and where the
// weights would sum to 0, it takes the min-norm point of the unit gradients, MGDA(l2), which has
// the same direction wherever both exist with positive weights.
//
// Where Σ (C⁺1)ᵢ/‖Jᵢ‖ is negative, dividing by it turns d round: the projections are equal, but
// negative, and to first order every loss rises. That is the published form, and is kept.
type IMTLG struct {
	solver emgd.Solver
}

// Needs asks for the Gram matrix.
func (*IMTLG) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *IMTLG) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, m.impartial)
}

// impartial returns α for the rows of r, in whose units it does not depend on a common factor.
func (m *IMTLG) impartial(r *rows) ([]float64, error) {
	c := r.cosines()
	beta, err := equalCosines(c, r.k())
	if err != nil {
		return nil, err
	}
	n := r.norms()
	if alpha := shares(beta, n); alpha != nil && impartialTo(c, beta) {
		return alpha, nil
	}
	lambda, err := lambdas(&m.solver, c, ones(r.k()))
	if err != nil {
		return nil, err
	}
	return shares(lambda, n), nil
}

// impartialTo says whether Cβ = 1.
func impartialTo(c, beta []float64) bool {
	for _, x := range times(c, beta) {
		if math.Abs(x-1) > unsolved {
			return false
		}
	}
	return true
}

// shares returns βᵢ/nᵢ over their sum, or nil if the sum is 0 up to rounding.
func shares(beta, n []float64) []float64 {
	alpha, size := make([]float64, len(beta)), 0.0
	for i, b := range beta {
		alpha[i] = b / n[i]
		size += math.Abs(alpha[i])
	}
	sum := sumOf(alpha)
	if !(math.Abs(sum) > cancelled*size) {
		return nil
	}
	for i := range alpha {
		alpha[i] /= sum
	}
	return alpha
}
