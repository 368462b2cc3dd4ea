package method

import (
	"fmt"
	"slices"
)

// serial is a step as the serial continual-learning methods see it (docs/method.md §1.7): the mean
// of the tasks in training against the memory.
type serial struct {
	memory     int     // its row
	current    float64 // number of tasks in training
	cc, cm, mm float64 // inner products of g_cur and g_mem
	loss       float64 // ℓ_cur
	memoryLoss float64 // ℓ_mem
	firstLoss  float64 // of the task that arrived first
}

// serially runs a rule on the merged tasks of a step. Where there are only tasks or only the
// memory, the weights are the mean.
func (s *Step) serially(w []float64, rule func(p serial) Outcome) (Outcome, error) {
	for _, id := range s.IDs {
		if id < MemoryID {
			return Outcome{},
				fmt.Errorf("stream %d is a further row of the memory; the method weighs the tasks against one, which has the id %d",
					id, MemoryID)
		}
	}
	tasks, done := s.tasks(w)
	if done {
		return Outcome{}, nil
	}
	p := serial{memory: slices.Index(s.IDs, MemoryID), current: float64(tasks)}
	if s.Gram != nil {
		p.mergeGradients(s)
	}
	p.mergeLosses(s)
	return rule(p), nil
}

func (p *serial) mergeGradients(s *Step) {
	k, m := s.k(), p.memory
	gram := s.Gram
	p.mm = gram[m*k+m]
	for i := range k {
		if i == m {
			continue
		}
		p.cm += gram[i*k+m] / p.current
		for j := range k {
			if j != m {
				p.cc += gram[i*k+j] / p.current / p.current
			}
		}
	}
	p.cc = max(p.cc, 0)
}

func (p *serial) mergeLosses(s *Step) {
	first := MemoryID // ids count arrivals
	for i, loss := range s.Losses {
		if i == p.memory {
			p.memoryLoss = loss
			continue
		}
		p.loss += loss / p.current
		if id := s.IDs[i]; first == MemoryID || id < first {
			first, p.firstLoss = id, loss
		}
	}
}

// silent says that the memory's gradient is 0 next to the tasks'.
func (p *serial) silent() bool { return p.mm <= 1e-24*p.cc }

// withoutMemory sets w for d = g_cur.
func (p *serial) withoutMemory(w []float64) Outcome {
	p.write(1, 0, w)
	return Outcome{Dropped: []int{MemoryID}}
}

// write sets w for d = a·g_cur + b·g_mem.
func (p *serial) write(a, b float64, w []float64) Outcome {
	fill(w, a/p.current)
	w[p.memory] = b
	return Outcome{}
}
