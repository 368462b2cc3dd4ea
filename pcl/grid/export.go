package grid

import (
	"maps"
	"slices"
	"strconv"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// Table returns the rows of the grid with their results. Rows without a result say whether they failed.
func (r *Results) Table() (out []*rows.Row) {
	for _, row := range r.Plan.Rows {
		out = append(out, r.row(row))
	}
	return out
}

func (r *Results) row(row Row) *rows.Row {
	state := r.states[row.Run]
	out := &rows.Row{
		Grid: r.Name, Title: r.Title, Paper: r.Paper, Size: r.Size, Dataset: row.Dataset, PaperDataset: row.PaperDataset,
		Method: row.Method, PaperMethod: row.PaperMethod, Increment: string(row.Increment),
		LabelSet: row.LabelSet, Timeline: row.Timeline, Seed: row.Seed, Cell: row.Run, Program: state.Note.Program, State: rows.Missing,
	}
	for _, name := range slices.Sorted(maps.Keys(row.Vary)) {
		out.Vary = append(out.Vary, rows.Setting{Name: name, Value: valueText(row.Vary[name])})
	}
	if state.Failed != "" {
		out.State, out.Reason = rows.Failed, state.Failed
	}
	if run := state.Run; run != nil {
		out.State, out.Result, out.Program = rows.Done, resultOf(run), run.Measured.Program
		out.Seconds = run.Measured.TrainSeconds + run.Measured.EvalSeconds
	}
	return out
}

// resultOf returns what is kept of a run.
func resultOf(run *results.Run) rows.Result {
	m := run.Measured
	out := rows.Result{
		A: run.A, F: run.F, AFirst: run.AFirst, Steps: run.Steps, Skipped: run.Skipped,
		TrainSeconds: m.TrainSeconds, EvalSeconds: m.EvalSeconds, StepMillis: m.StepMillis,
		Backend: m.Backend, Device: m.Device, Threads: m.Threads, Version: m.Version, Commit: m.Commit,
		Run: run.ID, RunMethod: run.Method, RunVariant: run.Variant, Model: run.ModelSHA256,
	}
	if run.DivergedAt != nil {
		out.Diverged = strconv.Itoa(*run.DivergedAt)
	}
	for _, p := range run.Curve {
		for range p.Ended {
			out.Ends = append(out.Ends, 100*p.Mean)
		}
	}
	return out
}
