package method

func init() {
	Register(Info{
		Name: "rlw", Title: "RLW", Family: "mtl",
		Rule:   "w = softmax(z), with a new random z in every step",
		Source: "Lin et al., Reasonable Effectiveness of Random Weighting, TMLR 2022 (arXiv 2111.10603)",
		Cost:   "K(F+B)", State: "none", SumW: "1",
	}, func() Method { return new(RLW) })
}

// RLW is random loss weighting (docs/method.md §4.7).
type RLW struct {
	Distribution RLWDistribution `param:"distribution" default:"normal" choices:"normal,uniform" doc:"distribution of z: N(0,1), or U[0,1) as in the released PCL code"`

	setup
}

// Needs asks for nothing but the ids of the streams.
func (*RLW) Needs() Needs { return Needs{} }

// Weights writes the weights of one step to w.
func (m *RLW) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	draw := s.random().NormFloat64
	if m.Distribution == RLWUniform {
		draw = s.random().Float64
	}
	for i := range w {
		w[i] = draw()
	}
	softmax(w)
	return Outcome{}, nil
}
