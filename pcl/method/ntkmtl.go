package method

import "math"

func init() {
	Register(Info{
		Name: "ntkmtl", Title: "NTKMTL", Family: "mtl",
		Rule: "wᵢ = (λ̄/λᵢ)^p, where λᵢ = ‖Jᵢ‖² is the neural tangent kernel of a whole batch, and λ̄ " +
			"their mean",
		Source: "Qin et al., NTKMTL: Mitigating Task Imbalance in Multi-Task Learning from Neural Tangent Kernel " +
			"Perspective, NeurIPS 2025 (arXiv 2510.18258), with n = 1 as in its experiments",
		Cost: "K(F+B) + Gram O(K²P)", State: "none", SumW: "≥ K for p ≥ ½; K for equal lengths",
	}, func() Method { return new(NTKMTL) })
}

// NTKMTL gives all streams one speed of convergence. The paper takes the largest eigenvalue of the
// kernel of n parts of a batch for λᵢ. With n = 1, as in all of its experiments that compare
// methods on gradients, the kernel is one number. At p = ½ the step has the direction of DiBS-MTL,
// and all wᵢJᵢ have the root of the mean squared length.
type NTKMTL struct {
	Exponent *float64 `param:"exponent" default:"0.5" range:"[0,4]" doc:"p ≥ 0: ½ brings all gradients to one length, as in the paper; its authors recommend to try more, such as 0.75; 0 gives the sum"`

	setup
}

// Needs asks for the Gram matrix.
func (*NTKMTL) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *NTKMTL) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, func(r *rows) ([]float64, error) {
		v, mean := make([]float64, r.k()), 0.0
		for i := range v {
			mean += r.dot(i, i) / float64(r.k())
		}
		for i := range v {
			v[i] = math.Pow(mean/r.dot(i, i), *m.Exponent)
		}
		return v, nil
	})
}
