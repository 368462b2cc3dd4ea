package method

func init() {
	Register(Info{
		Name: "sdmgrad", Title: "SDMGrad", Family: "mtl",
		Rule: "d = (Σ μᵢJᵢ + λg₀)/(1+λ) with the μ on the simplex that minimises ‖Σ μᵢJᵢ + " +
			"λg₀‖², where g₀ is the mean gradient",
		Source: "Xiao et al., Direction-oriented Multi-objective Learning, NeurIPS 2023 (arXiv 2305.18409)",
		Cost:   "K(F+B) + Gram O(K²P) + a K×K dual", State: "none", SumW: "1",
	}, func() Method { return new(SDMGrad) })
}

// SDMGrad is SDMGrad in its deterministic form: one batch per stream, and the exact μ
// (docs/method.md §4.14).
type SDMGrad struct {
	Lambda *float64 `param:"lambda" default:"0.3" range:"[0,1e6]" doc:"λ ≥ 0, how strongly d is pulled towards the mean gradient: 0 gives MGDA, a large λ the mean"`

	setup
	min shifted
}

// Needs asks for the Gram matrix.
func (*SDMGrad) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *SDMGrad) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, func(r *rows) ([]float64, error) {
		mu, err := m.min.solve(r.gram, *m.Lambda, r.k())
		if err != nil {
			return nil, err
		}
		v := make([]float64, r.k())
		for i, x := range mu {
			v[i] = (x + *m.Lambda/float64(r.k())) / (1 + *m.Lambda)
		}
		return v, nil
	})
}
