package method

func init() {
	Register(Info{
		Name: "a-gem", Title: "A-GEM", Family: "scl",
		Rule:   "d = g_cur; if it conflicts with g_mem, its projection on g_mem is subtracted",
		Source: "Chaudhry et al., Efficient Lifelong Learning with A-GEM, ICLR 2019 (arXiv 1812.00420)",
		Cost:   "K(F+B) + Gram O(K²P)", State: "none", SumW: "≥ 1; 1 without conflict",
	}, func() Method { return new(AGEM) })
}

// AGEM keeps the step from raising the memory's loss (docs/method.md §5.2). Where there is no
// conflict, the memory contributes nothing to the step.
type AGEM struct{}

// Needs asks for the Gram matrix.
func (*AGEM) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *AGEM) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.serially(w, func(p serial) Outcome {
		if p.silent() {
			return p.withoutMemory(w)
		}
		return p.write(1, max(0, -p.cm/p.mm), w)
	})
}
