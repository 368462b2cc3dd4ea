package method

func init() {
	Register(Info{
		Name: "dualproj", Title: "DualProj", Family: "mtl",
		Rule: "the mean gradient projected on {d : Jᵢ·d ≥ 0 for all i}",
		Source: "Lopez-Paz & Ranzato, Gradient Episodic Memory, NeurIPS 2017; as in Quinton & Rey, Jacobian Descent, arXiv " +
			"2406.16232",
		Cost: "K(F+B) + Gram O(K²P) + a K×K dual", State: "none", SumW: "≥ 1; 1 without conflict",
	}, func() Method { return new(DualProj) })
}

// DualProj solves min ‖Σ vᵢJᵢ‖² over v ≥ 1/K (docs/method.md §4.12).
type DualProj struct {
	cone cone
}

// Needs asks for the Gram matrix.
func (*DualProj) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *DualProj) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, func(r *rows) ([]float64, error) {
		return m.cone.project(r.gram, even(r.k()))
	})
}
