package method

func init() {
	Register(Info{
		Name: "avggrad", Title: "AvgGrad", Family: "mtl",
		Rule:   "d = (1/K) Σ Jᵢ",
		Source: "Lyu et al., Elastic Multi-Gradient Descent for Parallel Continual Learning, arXiv 2401.01054, Eq. 2",
		Cost:   "K(F+B)", State: "none", SumW: "1",
	}, func() Method { return new(AvgGrad) })
}

// AvgGrad is the plain mean of the gradients (docs/method.md §4.1).
type AvgGrad struct{}

// Needs asks for nothing but the ids of the streams.
func (*AvgGrad) Needs() Needs { return Needs{} }

// Weights writes the weights of one step to w.
func (m *AvgGrad) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	fill(w, 1/float64(s.k()))
	return Outcome{}, nil
}
