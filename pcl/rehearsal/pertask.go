package rehearsal

import (
	"errors"
	"maps"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/memory"
)

// PerTask is the part "per-task": a row of its own for each finished task, as GEM has them
// (docs/method.md §5.3). The rule then sees, and EMGD certifies, the gradient of each finished
// task. The rows have the ids −task.
type PerTask struct{}

func init() {
	Register(Info{
		Name: "per-task", Title: "a row per finished task",
		Does:   "the memory has a row for each finished task, with a batch of its samples, in place of one row for all",
		Source: "Lopez-Paz & Ranzato, Gradient Episodic Memory for Continual Learning, NeurIPS 2017 (arXiv 1706.08840)",
		Cost:   "(finished − 1)(F+B)", State: "none",
		Axes: []string{"replay"},
	}, func() Part { return new(PerTask) })
}

// Join sets the memory's rows.
func (*PerTask) Join(r *Rehearsal) error {
	r.PerTask, r.Separate, r.Shares = true, true, sharesOfTasks
	return nil
}

// Check refuses parts that need memory rows of another kind.
func (*PerTask) Check(r *Rehearsal) error {
	switch rows := r.rows(); {
	case len(rows) > 1 || rows[0].Loss.StoredLogits:
		return errors.New("a row for each finished task has one loss, of labels: with der-pp set rows=joined, draws=one " +
			"and beta above 0; with mdmtr leave distill at 0")
	case r.Penalty != nil && !r.SeparatePenalty:
		return errors.New("with a row for each finished task there is no memory row that the penalty could be a part of; " +
			"set rows=apart for it")
	case r.Draw != nil:
		return errors.New("a row for each finished task leaves nothing to choose in the replay")
	}
	return nil
}

// perTask draws samples of every finished task.
func perTask(ctx ReplayContext) (rows []Replay) {
	store := ctx.Memory()
	of, _ := grouped(store.Len(), func(i int) int { return store.Item(i).Task })
	for _, task := range ctx.Running() {
		delete(of, task)
	}
	for _, task := range slices.Sorted(maps.Keys(of)) {
		rows = append(rows, Replay{-task, anyOf(of[task], ctx.Batch(), ctx.Rand())})
	}
	return rows
}

// sharesOfTasks gives each finished task a batch. A running task may have samples, but has no
// batch.
func sharesOfTasks(store *memory.Store, running []int, _ int) []float64 {
	of, _ := grouped(store.Len(), func(i int) int { return store.Item(i).Task })
	shares := make([]float64, store.Len())
	for i := range shares {
		if task := store.Item(i).Task; !slices.Contains(running, task) {
			shares[i] = 1 / float64(len(of[task]))
		}
	}
	return shares
}
