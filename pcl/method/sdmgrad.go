package method

var _ = published(Info{
	Name: "sdmgrad", Title: "SDMGrad", Family: "mtl",
	Rule:   "d = (Σ μᵢJᵢ + λg₀)/(1+λ) with the μ on the simplex that minimises ‖Σ μᵢJᵢ + λg₀‖², where g₀ is the mean gradient",
	Source: "Xiao et al., Direction-oriented Multi-objective Learning, NeurIPS 2023 (arXiv 2305.18409)",
	Cost:   "K(F+B) + Gram O(K²P) + a K×K dual", State: "none", SumW: "1",
	NeedsGram: true,
}, SDMGrad{})

// SDMGrad is the deterministic form, one batch per stream and μ exact, of SDMGrad (docs/method.md §4.14).
type SDMGrad struct {
	Lambda *float64 `param:"lambda" default:"0.3" range:"[0,1e6]" doc:"λ ≥ 0, how strongly d is pulled towards the mean gradient: 0 gives MGDA, a large λ the mean"`

	min shifted
}

func (m *SDMGrad) weights(s *Step, w []float64) Outcome {
	return s.onRows(w, func(r *rows) []float64 {
		v := make([]float64, r.k())
		for i, x := range m.min.solve(r.gram, *m.Lambda, r.k()) {
			v[i] = (x + *m.Lambda/float64(r.k())) / (1 + *m.Lambda)
		}
		return v
	})
}
