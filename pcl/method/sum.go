package method

func init() {
	Register(Info{
		Name: "sum", Title: "Sum", Family: "mtl",
		Rule:   "d = Σ Jᵢ",
		Source: "linear scalarisation with unit weights",
		Cost:   "K(F+B)", State: "none", SumW: "K",
	}, func() Method { return new(Sum) })
}

// Sum is AvgGrad without the 1/K (docs/method.md §4.1).
type Sum struct{}

// Needs asks for nothing but the ids of the streams.
func (*Sum) Needs() Needs { return Needs{} }

// Weights writes the weights of one step to w.
func (m *Sum) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	fill(w, 1)
	return Outcome{}, nil
}
