package rehearsal

// LogitAdjustment is the part "las", the logit-adjusted softmax (docs/method.md §8.8): in training,
// the logit of each class has τ times the logarithm of the class's share of the step's samples
// added, so that classes of which there are many at present do not push down the others.
// Predictions compare the logits as they are.
type LogitAdjustment struct {
	Tau *float64 `param:"tau" default:"1" range:"[0,100]" doc:"τ ≥ 0, how much of the imbalance is taken out; 0 leaves it out"`
}

func init() {
	Register(Info{
		Name: "las", Title: "logit adjustment",
		Does: "in all cross-entropies, of the tasks and of the memory, the logit of a class has τ·log(its share of the " +
			"step's samples) added",
		Source: "Menon et al., Long-tail learning via logit adjustment, ICLR 2021 (arXiv 2007.07314); Huang et al., Online " +
			"Continual Learning via Logit Adjusted Softmax, TMLR 2024 (arXiv 2311.06460)",
		Cost: "none", State: "none",
		Axes: []string{"task loss"},
	}, func() Part { return new(LogitAdjustment) })
}

// Join sets the adjustment of all losses.
func (a *LogitAdjustment) Join(r *Rehearsal) error {
	r.Adjust = *a.Tau
	return nil
}
