package method

var _ = published(Info{
	Name: "dualproj", Title: "DualProj", Family: "mtl",
	Rule:   "the mean gradient projected on {d : Jᵢ·d ≥ 0 for all i}",
	Source: "Lopez-Paz & Ranzato, Gradient Episodic Memory, NeurIPS 2017; as in Quinton & Rey, Jacobian Descent, arXiv 2406.16232",
	Cost:   "K(F+B) + Gram O(K²P) + a K×K dual", State: "none", SumW: "≥ 1; 1 without conflict",
	NeedsGram: true,
}, DualProj{})

// DualProj solves min ‖Σ vᵢJᵢ‖² over v ≥ 1/K (docs/method.md §4.12).
type DualProj struct {
	cone cone
}

func (m *DualProj) weights(s *Step, w []float64) Outcome {
	return s.onRows(w, func(r *rows) []float64 {
		return m.cone.project(r.gram, even(r.k()))
	})
}
