package rehearsal

// ICaRL is the part "icarl", which joins three: sigmoid losses on all outputs seen so far, where
// the targets of finished tasks are the outputs of the model when the last task ended; [Herding];
// and [NearestMean] (docs/method.md §5.7).
type ICaRL struct {
	Pool float64 `param:"pool" default:"500" range:"whole [1,1e9]" doc:"number of samples of each class of a running task from which those for the memory are chosen, at least 1; never fewer than the memory can take"`
}

func init() {
	Register(Info{
		Name: "icarl", Title: "iCaRL",
		Does: "all losses are sigmoid losses on all outputs seen so far, where the targets of finished tasks are the " +
			"outputs of the model when the last task ended; samples are chosen for the memory by herding, and predictions are " +
			"the class with the nearest mean of the features",
		Source: "Rebuffi et al., iCaRL: Incremental Classifier and Representation Learning, CVPR 2017 (arXiv 1611.07725)",
		Cost:   "KF of the old model", State: "the model when the last task ended",
		Axes: []string{"task loss", "memory loss", "selection", "prediction"},
	}, func() Part { return new(ICaRL) })
}

// Join sets the losses, the choice of what is kept, and what predicts.
func (p *ICaRL) Join(r *Rehearsal) error {
	r.Task = Loss{Sigmoid: true, Seen: true}
	r.Rows = []Row{{ID: memoryRow, Loss: r.Task}}
	r.Remember = true
	r.Rank, r.Pool, r.Predict = rankByHerding, int(p.Pool), &nearestMean{}
	return nil
}
