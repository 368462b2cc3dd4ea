package method

func init() {
	Register(Info{
		Name: "constant", Title: "Constant", Family: "mtl",
		Rule:   "d = memory·Σ of the memory's rows + task·Σ of the tasks'",
		Source: "linear scalarisation with given weights",
		Cost:   "K(F+B)", State: "none", SumW: "as given",
	}, func() Method { return new(Constant) })
}

// Constant gives the memory and the tasks a fixed weight each.
type Constant struct {
	Memory *float64 `param:"memory" default:"1" doc:"weight of the memory"`
	Task   *float64 `param:"task" default:"1" doc:"weight of every task in training"`

	setup
}

// Needs asks for nothing but the ids of the streams.
func (*Constant) Needs() Needs { return Needs{} }

// Weights writes the weights of one step to w.
func (m *Constant) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	for i, id := range s.IDs {
		w[i] = *m.Task
		if id <= MemoryID {
			w[i] = *m.Memory
		}
	}
	return Outcome{}, nil
}
