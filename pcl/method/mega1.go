package method

func init() {
	Register(Info{
		Name: "mega-1", Title: "MEGA-I", Family: "scl",
		Rule:   "d = g_cur + (ℓ_mem/ℓ_cur)g_mem, or g_mem alone if ℓ_cur ≤ ε",
		Source: "Guo et al., Improved Schemes for Episodic Memory-based Lifelong Learning, NeurIPS 2020 (arXiv 1909.11763)",
		Cost:   "K(F+B)", State: "none", SumW: "not fixed",
	}, func() Method { return new(MEGA1) })
}

// MEGA1 balances the memory against the tasks by their losses (docs/method.md §5.4).
type MEGA1 struct {
	Eps float64 `param:"eps" default:"1e-3" range:"[1e-12,1e12]" doc:"ε > 0: while the loss of the tasks is below it, only the memory is trained on"`

	setup
}

// Needs asks for the losses, which may not be negative.
func (*MEGA1) Needs() Needs { return Needs{Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *MEGA1) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.serially(w, func(p serial) Outcome {
		if p.loss > m.Eps {
			return p.write(1, p.memoryLoss/p.loss, w)
		}
		return p.write(0, 1, w)
	})
}
