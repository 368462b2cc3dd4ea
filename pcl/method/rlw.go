package method

var _ = published(Info{
	Name: "rlw", Title: "RLW", Family: "mtl",
	Rule:   "w = softmax(z), with a new random z in every step",
	Source: "Lin et al., Reasonable Effectiveness of Random Weighting, TMLR 2022 (arXiv 2111.10603)",
	Cost:   "K(F+B)", State: "none", SumW: "1",
}, RLW{})

// RLW is random loss weighting (docs/method.md §4.7).
type RLW struct {
	Distribution string `param:"distribution" default:"normal" choices:"normal,uniform" doc:"distribution of z: N(0,1), or U[0,1) as in the released PCL code"`
}

func (m RLW) weights(s *Step, w []float64) Outcome {
	draw := s.random().NormFloat64
	if m.Distribution == "uniform" {
		draw = s.random().Float64
	}
	for i := range w {
		w[i] = draw()
	}
	softmax(w)
	return Outcome{}
}
