package method

var _ = published(Info{
	Name: "sum", Title: "Sum", Family: "mtl",
	Rule:   "d = Σ Jᵢ",
	Source: "linear scalarisation with unit weights",
	Cost:   "K(F+B)", State: "none", SumW: "K",
}, Sum{})

// Sum is AvgGrad without the 1/K (docs/method.md §4.1).
type Sum struct{}

func (Sum) weights(s *Step, w []float64) Outcome {
	fill(w, 1)
	return Outcome{}
}
