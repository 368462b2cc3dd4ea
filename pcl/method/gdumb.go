package method

// idle is the rule of GDumb, which trains only when a prediction is asked for (docs/method.md §5.8); see [rehearsal.Retrain].
type idle struct{}

// Idle says that no step is made while tasks run.
func (idle) Idle() bool { return true }

// Weights is the mean. The engine does not call it, since it makes no steps.
func (idle) Weights(s *Step, w []float64) (Outcome, error) {
	fill(w, 1/float64(len(w)))
	return Outcome{}, nil
}
