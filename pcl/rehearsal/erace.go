package rehearsal

// ERACE is the part "er-ace", asymmetric cross-entropy (docs/method.md §8.3): the tasks' own
// batches compete only among the classes of their task, so that new classes do not push down the
// outputs of old ones. Replayed samples compete among all classes. In task-incremental mode it
// changes nothing.
type ERACE struct{}

func init() {
	Register(Info{
		Name: "er-ace", Title: "ER-ACE",
		Does: "the tasks' losses are cross-entropies over the classes of their own task only",
		Source: "Caccia et al., New Insights on Reducing Abrupt Representation Change in Online Continual Learning, ICLR " +
			"2022 (arXiv 2104.05025)",
		Cost: "none", State: "none",
		Axes: []string{"task loss"},
	}, func() Part { return new(ERACE) })
}

// Join sets the loss of the tasks' rows.
func (*ERACE) Join(r *Rehearsal) error {
	r.Task.Own = true
	return nil
}
