package method

var _ = published(Info{
	Name: "constant", Title: "Constant", Family: "mtl",
	Rule:   "d = memory·Σ of the memory's rows + task·Σ of the tasks'",
	Source: "linear scalarisation with given weights",
	Cost:   "K(F+B)", State: "none", SumW: "as given",
}, Constant{})

// Constant gives the memory and the tasks a fixed weight each.
type Constant struct {
	Memory *float64 `param:"memory" default:"1" doc:"weight of the memory"`
	Task   *float64 `param:"task" default:"1" doc:"weight of every task in training"`
}

func (m Constant) weights(s *Step, w []float64) Outcome {
	for i, id := range s.IDs {
		w[i] = *m.Task
		if id <= Memory {
			w[i] = *m.Memory
		}
	}
	return Outcome{}
}
