package method

import "fmt"

func init() { Register(rlwInfo, RLW{}) }

var rlwInfo = Info{
	Name: "rlw", Title: "RLW", Family: "mtl",
	Rule:   "w = softmax(z), with a new random z in every step",
	Source: "Lin et al., Reasonable Effectiveness of Random Weighting, TMLR 2022 (arXiv 2111.10603)",
	Cost:   "K(F+B)", State: "none", SumW: "1",
}

// RLW is random loss weighting (docs/method.md §4.7).
type RLW struct {
	Distribution string `param:"distribution" default:"normal" choices:"normal,uniform" doc:"distribution of z: N(0,1), or U[0,1) as in the released PCL code"`
}

func (m RLW) Weights(s *Step, w []float64) (Outcome, error) {
	s.check(rlwInfo, w)
	if s.Rand == nil {
		return Outcome{}, fmt.Errorf("method %s: it draws at random and the step has no Rand", rlwInfo.Name)
	}
	for i := range w {
		if m.Distribution == "uniform" {
			w[i] = s.Rand.Float64()
		} else {
			w[i] = s.Rand.NormFloat64()
		}
	}
	softmax(w)
	return Outcome{}, nil
}
