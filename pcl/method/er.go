package method

func init() {
	Register(Info{
		Name: "er", Title: "ER", Family: "scl",
		Rule: "d = ½(g_cur + g_mem), where g_cur is the mean gradient of the tasks in training and g_mem that of the " +
			"memory",
		Source: "Chaudhry et al., On Tiny Episodic Memories in Continual Learning, arXiv 1902.10486",
		Cost:   "K(F+B)", State: "none", SumW: "1",
	}, func() Method { return new(ER) })
}

// ER is experience replay: the memory has half of the step however many tasks are in training
// (docs/method.md §5.1).
type ER struct{}

// Needs asks for nothing but the ids of the streams.
func (*ER) Needs() Needs { return Needs{} }

// Weights writes the weights of one step to w.
func (m *ER) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.serially(w, func(p serial) Outcome { return p.write(0.5, 0.5, w) })
}
