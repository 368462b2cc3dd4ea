package method

func init() {
	Register(Info{
		Name: "mega-release", Title: "MEGA (release)", Family: "scl",
		Rule: "d = (ℓ_mem/ℓ₁)g_cur + g_mem, where ℓ₁ is the loss of the first task in training, or g_cur alone " +
			"if ℓ₁ ≤ ε",
		Source: "the benchmark code of Lyu et al., arXiv 2407.08214: MEGA-I of Guo et al., NeurIPS 2020, with its two " +
			"weights exchanged",
		Cost: "K(F+B)", State: "none", SumW: "not fixed",
	}, func() Method { return new(MEGARelease) })
}

// MEGARelease is what the published PCL tables probably call MEGA (docs/method.md §5.4).
type MEGARelease struct {
	Eps float64 `param:"eps" default:"0.1" range:"[1e-12,1e12]" doc:"ε > 0: while the loss of the first task is below it, only the tasks are trained on"`

	setup
}

// Needs asks for the losses, which may not be negative.
func (*MEGARelease) Needs() Needs { return Needs{Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *MEGARelease) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.serially(w, func(p serial) Outcome {
		if p.firstLoss > m.Eps {
			return p.write(p.memoryLoss/p.firstLoss, 1, w)
		}
		return p.write(1, 0, w)
	})
}
