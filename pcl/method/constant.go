package method

import (
	"math"

	"github.com/parallelcl/parallelcl/internal/limits"
)

func init() {
	Register(Spec{
		Info: constantInfo,
		Params: []Param{
			{Name: "memory", Default: 1.0, Doc: "weight of the memory"},
			{Name: "task", Default: 1.0, Doc: "weight of every task in training"},
		},
		New: func(p Params) (Method, error) {
			m := constant{p.Float("memory"), p.Float("task")}
			if err := limits.Within("memory", m.memory, -math.MaxFloat64, math.MaxFloat64); err != nil {
				return nil, err
			}
			return m, limits.Within("task", m.task, -math.MaxFloat64, math.MaxFloat64)
		},
	})
}

var constantInfo = Info{
	Name: "constant", Title: "Constant", Family: "mtl",
	Rule:   "d = memory·Σ of the memory's rows + task·Σ of the tasks'",
	Source: "linear scalarisation with given weights",
	Cost:   "K(F+B)", State: "none", SumW: "as given",
}

// constant gives the memory and the tasks a fixed weight each.
type constant struct{ memory, task float64 }

func (constant) Info() Info { return constantInfo }

func (m constant) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.check(constantInfo, w); err != nil {
		return Outcome{}, err
	}
	for i, id := range s.IDs {
		w[i] = m.task
		if id <= Memory {
			w[i] = m.memory
		}
	}
	return Outcome{}, nil
}
