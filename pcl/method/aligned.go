package method

import "math"

func init() {
	Register(Info{
		Name: "aligned-mtl", Title: "Aligned-MTL", Family: "mtl",
		Rule:   "w = √λ V Λ^(−½) Vᵀ 1/K with M = VΛVᵀ, λ the smallest nonzero eigenvalue of M",
		Source: "Senushkin et al., Independent Component Alignment for Multi-Task Learning, CVPR 2023, Algorithm 1",
		Cost:   "K(F+B) + Gram O(K²P) + a K×K eigenproblem", State: "none", SumW: "not fixed",
	}, func() Method { return new(AlignedMTL) })
}

// AlignedMTL gives all principal components of the gradients the same singular value
// (docs/method.md §4.11).
type AlignedMTL struct {
	Scale AlignedMTLScale `param:"scale" default:"min" choices:"min,median,rmse" doc:"the value to which all singular values of J are set: the smallest of them, the median (the lower of two), or the root mean square"`

	setup
}

// Needs asks for the Gram matrix.
func (*AlignedMTL) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *AlignedMTL) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, func(r *rows) ([]float64, error) {
		return spectral(r.gram, even(r.k()), func(values []float64) []float64 {
			out, to := make([]float64, len(values)), m.target(values)
			for i, x := range values {
				out[i] = math.Sqrt(to / x)
			}
			return out
		})
	})
}

// target picks the common eigenvalue from the eigenvalues in ascending order.
func (m *AlignedMTL) target(values []float64) float64 {
	switch m.Scale {
	case AlignedMTLMedian:
		return values[(len(values)-1)/2]
	case AlignedMTLRMSE:
		return sumOf(values) / float64(len(values))
	}
	return values[0]
}
