package method

// finished is a step in which each finished task has a row of its own, as [rehearsal.PerTask] makes
// them.
type finished struct {
	*rows
	u    []float64 // weights of the rows kept; those for d = g_cur to begin with
	past []int     // the rows kept that are of finished tasks
}

// besideFinished separates the finished tasks' rows from the current ones. Where there are only
// rows of one kind, it writes the mean to w and done is true.
func besideFinished(s *Step, w []float64) (f finished, out Outcome, done bool) {
	r := keep(s, w)
	if r.k() == 0 {
		return f, r.outcome(), true
	}
	tasks, done := s.tasks(w)
	if done {
		return f, Outcome{}, true
	}
	r.level()
	f = finished{rows: r, u: make([]float64, r.k())}
	for i, at := range r.at {
		if s.IDs[at] > MemoryID {
			f.u[i] = 1 / float64(tasks)
		} else {
			f.past = append(f.past, i)
		}
	}
	return f, Outcome{}, false
}

// pastGram is the Gram matrix of the finished tasks' rows.
func (f finished) pastGram() (gram []float64) {
	for _, i := range f.past {
		for _, j := range f.past {
			gram = append(gram, f.dot(i, j))
		}
	}
	return gram
}
