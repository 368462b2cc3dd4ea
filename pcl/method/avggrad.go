package method

var _ = published(Info{
	Name: "avggrad", Title: "AvgGrad", Family: "mtl",
	Rule:   "d = (1/K) Σ Jᵢ",
	Source: "Lyu et al., Elastic Multi-Gradient Descent for Parallel Continual Learning, arXiv 2401.01054, Eq. 2",
	Cost:   "K(F+B)", State: "none", SumW: "1",
}, AvgGrad{})

// AvgGrad is the plain mean of the gradients (docs/method.md §4.1).
type AvgGrad struct{}

func (AvgGrad) weights(s *Step, w []float64) Outcome {
	fill(w, 1/float64(s.k()))
	return Outcome{}
}
