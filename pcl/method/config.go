package method

import "math"

var _ = published(Info{
	Name: "config", Title: "ConFIG", Family: "mtl",
	Rule:   "the unit vector d̂ along d has the same cosine with all Jᵢ, and ‖d‖ = Σ Jᵢ·d̂",
	Source: "Liu et al., ConFIG: Towards Conflict-free Training of Physics Informed Neural Networks, arXiv 2408.11104, Eq. 2",
	Cost:   "K(F+B) + Gram O(K²P) + a K×K eigenproblem", State: "none", SumW: "not fixed",
	NeedsGram: true,
}, ConFIG{})

// ConFIG is ConFIG with equal preferences (docs/method.md §4.13): b = C⁺1 over the unit gradients, scaled to
// the sum of the gradients' projections on it. It is free of conflict where the gradients are
// independent, and equals EMGD with σ ∝ ‖J‖ where b ≥ 0. Where all projections cancel, d = 0.
type ConFIG struct{}

func (ConFIG) weights(s *Step, w []float64) Outcome { return s.onRows(w, conflictFree) }

func conflictFree(r *rows) []float64 {
	c := r.cosines()
	b := equalCosines(c, r.k())
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
	return v
}
