package rehearsal

import (
	"maps"
	"slices"
)

// PerTask is the part "per-task": a row of its own for each finished task, as GEM has them (docs/method.md §5.3).
// The rule then sees, and EMGD certifies, the gradient of each finished task. The rows have the ids −task.
type PerTask struct{}

// Info describes the part.
func (PerTask) Info() Info {
	return Info{
		Name: "per-task", Title: "a row per finished task",
		Does:   "the memory has a row for each finished task, with a batch of its samples, in place of one row for all",
		Source: "Lopez-Paz & Ranzato, Gradient Episodic Memory for Continual Learning, NeurIPS 2017 (arXiv 1706.08840)",
		Cost:   "(finished − 1)(F+B)", State: "none",
		Axes: []Axis{Replayed},
	}
}

// Join sets the memory's rows.
func (PerTask) Join(r *Rehearsal) error {
	r.PerTask, r.Apart, r.Evenly = true, true, EachTask
	return nil
}

// perTask draws samples of every finished task.
func perTask(lab ReplayLab) (rows []Replay) {
	store, of := lab.Memory(), map[int][]int{}
	for i := range store.Len() {
		task := store.Item(i).Task
		of[task] = append(of[task], i)
	}
	for _, task := range lab.Running() {
		delete(of, task)
	}
	for _, task := range slices.Sorted(maps.Keys(of)) {
		rows = append(rows, replay(-task, anyOf(of[task], lab.Batch(), lab.Rand()))...)
	}
	return rows
}
