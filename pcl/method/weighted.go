package method

// weighted is the rule d = current·g_cur + replayed·Σ of the memory's rows, which most rehearsals were published
// with (docs/method.md §5).
type weighted struct{ current, replayed float64 }

// Weights gives the tasks, and the memory's rows, the same weight each. Where there are only tasks or only memory,
// the weights are the mean.
func (m weighted) Weights(s *Step, w []float64) (Outcome, error) {
	tasks := s.tasks()
	if tasks == 0 || tasks == len(w) {
		fill(w, 1/float64(len(w)))
		return Outcome{}, nil
	}
	for i, id := range s.IDs {
		w[i] = m.replayed
		if id > Memory {
			w[i] = m.current / float64(tasks)
		}
	}
	return Outcome{}, nil
}

// tasks counts the rows that do not belong to the memory.
func (s *Step) tasks() (n int) {
	for _, id := range s.IDs {
		if id > Memory {
			n++
		}
	}
	return n
}
