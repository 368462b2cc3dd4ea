package method

import "math"

func init() {
	Register(Info{
		Name: "config", Title: "ConFIG", Family: "mtl",
		Rule: "the unit vector d̂ along d has the same cosine with all Jᵢ, and ‖d‖ = Σ Jᵢ·d̂",
		Source: "Liu et al., ConFIG: Towards Conflict-free Training of Physics Informed Neural Networks, arXiv 2408.11104, " +
			"Eq. 2",
		Cost: "K(F+B) + Gram O(K²P) + a K×K eigenproblem", State: "none", SumW: "not fixed",
	}, func() Method { return new(ConFIG) })
}

// ConFIG is ConFIG with equal preferences (docs/method.md §4.13): b = C⁺1 over the unit gradients,
// scaled to the sum of the gradients' projections on it. It is free of conflict where the gradients
// are independent, and equals EMGD with σ ∝ ‖J‖ where b ≥ 0. Where all projections cancel, d = 0.
type ConFIG struct{}

// Needs asks for the Gram matrix.
func (*ConFIG) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *ConFIG) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, conflictFree)
}

func conflictFree(r *rows) ([]float64, error) {
	c := r.cosines()
	b, err := equalCosines(c, r.k())
	if err != nil {
		return nil, err
	}
	v := make([]float64, r.k())
	size, parts := normOf(c, b), 0.0
	for _, x := range b {
		parts += math.Abs(x)
	}
	if size > cancelled*parts {
		n, length := r.norms(), 0.0
		for i, x := range times(c, b) {
			length += n[i] * x / size
		}
		for i := range v {
			v[i] = length * b[i] / size / n[i]
		}
	}
	return v, nil
}
