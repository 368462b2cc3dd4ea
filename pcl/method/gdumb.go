package method

var gdumbInfo = Info{
	Name: "gdumb", Title: "GDumb", Family: "scl",
	Rule:   "no training while tasks run: the memory is filled with an equal number of samples of each class, and for predictions a new network is trained on the memory alone",
	Source: "Prabhu, Torr & Dokania, GDumb: A Simple Approach that Questions Our Progress in Continual Learning, ECCV 2020",
	Cost:   "none per step; passes × (F+B) of the whole memory per evaluation", State: "only the memory", SumW: "1 (not used)",
}

// gdumb trains only when a prediction is asked for (docs/method.md §5.8); see [rehearsal.Retrain].
type gdumb struct{}

func (gdumb) Info() Info { return gdumbInfo }

// Idle says that no step is made while tasks run.
func (gdumb) Idle() bool { return true }

// Weights is the mean. The engine does not call it, since it makes no steps.
func (gdumb) Weights(s *Step, w []float64) (Outcome, error) {
	fill(w, 1/float64(len(w)))
	return Outcome{}, nil
}
