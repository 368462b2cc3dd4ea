package method

import "fmt"

func init() {
	Register(Spec{
		Info: rlwInfo,
		Params: []Param{{
			Name: "distribution", Default: "normal", Choices: []string{"normal", "uniform"},
			Doc: "distribution of z: N(0,1), or U[0,1) as in the released PCL code",
		}},
		New: func(p Params) (Method, error) { return rlw{p.String("distribution") == "uniform"}, nil },
	})
}

var rlwInfo = Info{
	Name: "rlw", Title: "RLW", Family: "mtl",
	Rule:   "w = softmax(z), with a new random z in every step",
	Source: "Lin et al., Reasonable Effectiveness of Random Weighting, TMLR 2022 (arXiv 2111.10603)",
	Cost:   "K(F+B)", State: "none", SumW: "1",
}

// rlw is random loss weighting (docs/method.md §4.7).
type rlw struct{ uniform bool }

func (rlw) Info() Info { return rlwInfo }

func (m rlw) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.check(rlwInfo, w); err != nil {
		return Outcome{}, err
	}
	if s.Rand == nil {
		return Outcome{}, fmt.Errorf("method %s: it draws at random and the step has no Rand", rlwInfo.Name)
	}
	for i := range w {
		if m.uniform {
			w[i] = s.Rand.Float64()
		} else {
			w[i] = s.Rand.NormFloat64()
		}
	}
	softmax(w)
	return Outcome{}, nil
}
