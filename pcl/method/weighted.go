package method

// both and half are the rules d = g_cur + Σ of the memory's rows, and half of that, which most
// rehearsals were published with (docs/method.md §5).
type (
	both struct{ setup }
	half struct{ setup }
)

func (*both) severalRows() {}
func (*half) severalRows() {}

// Needs says that the rule reads nothing of a step but its ids.
func (*both) Needs() Needs { return Needs{} }

// Needs says that the rule reads nothing of a step but its ids.
func (*half) Needs() Needs { return Needs{} }

// Weights writes 1/K_c for each of the K_c tasks, and 1 for each row of the memory.
func (*both) Weights(s *Step, w []float64) (Outcome, error) { return s.weighed(1, 1, w), nil }

// Weights writes ½/K_c for each of the K_c tasks, and ½ for each row of the memory.
func (*half) Weights(s *Step, w []float64) (Outcome, error) { return s.weighed(0.5, 0.5, w), nil }

// weighed divides current equally among the tasks, and gives each row of the memory the weight
// replayed. Where there are only tasks or only memory, all weights are 1/K.
func (s *Step) weighed(current, replayed float64, w []float64) Outcome {
	if wrong := s.misfit(Needs{}, w); wrong != "" {
		panic("method: " + wrong)
	}
	tasks, done := s.tasks(w)
	if done {
		return Outcome{}
	}
	for i, id := range s.IDs {
		w[i] = replayed
		if id > MemoryID {
			w[i] = current / float64(tasks)
		}
	}
	return Outcome{}
}

// tasks counts the rows that do not belong to the memory. Where there are only rows of one kind, it
// writes the mean to w and done is true.
func (s *Step) tasks(w []float64) (n int, done bool) {
	for _, id := range s.IDs {
		if id > MemoryID {
			n++
		}
	}
	if n > 0 && n < s.k() {
		return n, false
	}
	fill(w, 1/float64(s.k()))
	return n, true
}
