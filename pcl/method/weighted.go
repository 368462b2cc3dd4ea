package method

// weighted is the rule d = current·g_cur + replayed·Σ of the memory's rows, which most rehearsals were published
// with (docs/method.md §5).
type weighted struct{ current, replayed float64 }

// Weights gives the tasks, and the memory's rows, the same weight each. Where there are only tasks or only memory,
// the weights are the mean.
func (m weighted) weights(s *Step, w []float64) Outcome {
	tasks, done := s.tasks(w)
	if done {
		return Outcome{}
	}
	for i, id := range s.IDs {
		w[i] = m.replayed
		if id > Memory {
			w[i] = m.current / float64(tasks)
		}
	}
	return Outcome{}
}

// tasks counts the rows that do not belong to the memory. Where there are only rows of one kind, it writes the mean to w and
// done is true.
func (s *Step) tasks(w []float64) (n int, done bool) {
	for _, id := range s.IDs {
		if id > Memory {
			n++
		}
	}
	if n > 0 && n < s.k() {
		return n, false
	}
	fill(w, 1/float64(s.k()))
	return n, true
}
