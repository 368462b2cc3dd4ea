package rehearsal

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// stored is the id of the row that is trained on the logits kept with its samples.
const stored = -1

// Distill is the part "der-pp", dark experience replay (docs/method.md §5.6): β times the
// cross-entropy of replayed samples, and α times the mean squared difference of their logits to
// those at the end of their task.
type Distill struct {
	Alpha *float64 `param:"alpha" default:"0.3" range:"[0,1e6]" doc:"α ≥ 0, weight of the squared difference to the stored logits; 0 leaves it out"`
	Beta  *float64 `param:"beta" default:"0.5" range:"[0,1e6]" doc:"β ≥ 0, weight of the memory's cross-entropy; 0 leaves it out, which is DER"`
	Draws Draws    `param:"draws" default:"two" choices:"one,two" doc:"whether the two losses are those of one batch or of two independent ones"`
	Rows  RowsSeen `param:"rows" default:"joined" choices:"joined,apart" doc:"whether the rule sees the two losses as one memory row or as two"`
}

func init() {
	Register(Info{
		Name: "der-pp", Title: "DER++",
		Does: "the memory's loss is β·CE(h(x″), y″) + α·MSE(h(x′), z′), where z′ are the logits at the end " +
			"of the sample's task",
		Source: "Buzzega et al., Dark Experience for General Continual Learning, NeurIPS 2020 (arXiv 2004.07211)",
		Cost:   "F+B with two draws or with rows apart", State: "the logits stored with the samples",
		Axes: []string{"memory loss"},
	}, func() Part { return new(Distill) })
}

// Join adds one row, or two if they have samples of their own or the rule is to see them apart.
func (d *Distill) Join(r *Rehearsal) error {
	alpha, beta := *d.Alpha, *d.Beta
	if alpha == 0 && beta == 0 {
		return errors.New("alpha and beta are both 0: there would be no rehearsal")
	}
	r.Logits, r.Separate = alpha > 0, r.Separate || d.Rows == RowsApart
	if alpha > 0 && beta > 0 && d.Draws == DrawsOne && d.Rows == RowsJoined {
		r.Rows = []Row{{ID: memoryRow, Loss: Loss{Scale: beta, Distill: alpha}}}
		return nil
	}
	if beta > 0 {
		r.Rows = append(r.Rows, Row{ID: memoryRow, Loss: Loss{Scale: beta}})
	}
	if alpha > 0 {
		r.Rows = append(r.Rows, Row{ID: stored, Loss: Loss{StoredLogits: true, Scale: alpha}, OwnDraw: beta == 0 ||
			d.Draws == DrawsTwo})
	}
	return nil
}

// withLogits returns the samples together with the logits of the model.
func withLogits(ctx Context, task int, samples []memory.Item) ([]memory.Item, error) {
	if len(samples) == 0 {
		return nil, nil
	}
	logits, err := ctx.Logits(Current, samples)
	switch {
	case err != nil:
		return nil, err
	case len(logits) != len(samples):
		return nil, fmt.Errorf("task %d: %d logits for %d samples", task, len(logits), len(samples))
	}
	out := slices.Clone(samples)
	for i := range out {
		out[i].Logits = logits[i]
	}
	return out, nil
}

// stampLogits stores the logits of the model with the samples of a task that are in the memory
// already. Where the task has come back, its samples from before have logits, and keep them.
func stampLogits(ctx Context, task int) error {
	store := ctx.Memory()
	of := slices.DeleteFunc(placesOf(store, task), func(i int) bool { return store.Item(i).Logits != nil })
	now, err := withLogits(ctx, task, store.Items(of))
	for k, it := range now {
		store.SetLogits(of[k], it.Logits)
	}
	return err
}
