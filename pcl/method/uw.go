package method

import "math"

func init() {
	Register(Info{
		Name: "uw", Title: "UW", Family: "mtl",
		Rule: "d = Σ ½exp(−sᵢ)Jᵢ, where sᵢ, the logarithm of a stream's variance, is learnt by gradient " +
			"descent on Σ ½exp(−sᵢ)ℓᵢ + ½sᵢ",
		Source: "Kendall, Gal & Cipolla, Multi-Task Learning Using Uncertainty to Weigh Losses, CVPR 2018 (arXiv 1705.07115)",
		Cost:   "K(F+B)", State: "sᵢ per stream", SumW: "not fixed",
	}, func() Method { return new(UW) })
}

// UW weighs streams by their learned homoscedastic uncertainty; s starts at 0. A step uses the
// uncertainties from before their update.
type UW struct {
	LR *float64 `param:"lr" default:"0.1" range:"[0,1]" doc:"step size of s, in [0, 1]"`

	setup
	memo[logScale]
}

// Needs asks for the losses, which may not be negative.
func (*UW) Needs() Needs { return Needs{Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *UW) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	for i, id := range s.IDs {
		log := float64(m.memo[id])
		w[i] = math.Exp(-log) / 2
		m.memo[id] = clampLog(log - *m.LR*(0.5-w[i]*s.Losses[i]))
	}
	return Outcome{}, nil
}
