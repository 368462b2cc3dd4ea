package method

import "slices"

func init() {
	Register(Info{
		Name: "stch", Title: "STCH", Family: "mtl",
		Rule: "d = ∇ μ·log Σ exp(ℓᵢ/μ), that is w = softmax(ℓ/μ)",
		Source: "Lin et al., Smooth Tchebycheff Scalarization for Multi-Objective Optimization, ICML 2024 (arXiv " +
			"2402.19078), with preferences 1 and ideal point 0",
		Cost: "K(F+B)", State: "none", SumW: "1",
	}, func() Method { return new(STCH) })
}

// STCH descends on a smooth maximum of the losses.
type STCH struct {
	Mu float64 `param:"mu" default:"1" range:"[1e-6,1e9]" doc:"μ > 0, smoothing: a small μ follows the largest loss alone, a large μ gives equal weights"`

	setup
}

// Needs asks for the losses, which may not be negative.
func (*STCH) Needs() Needs { return Needs{Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *STCH) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	top := slices.Max(s.Losses)
	for i, x := range s.Losses {
		w[i] = (x - top) / m.Mu
	}
	softmax(w)
	return Outcome{}, nil
}
