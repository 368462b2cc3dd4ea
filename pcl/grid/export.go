package grid

import (
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// CSV writes a line for each row of the grid, with a line of names above. Rows without a result have empty fields and
// say whether they failed.
func (r *Results) CSV(out io.Writer) error { return rows.Write(out, r.Rows()) }

// Rows returns the rows of the grid with their results.
func (r *Results) Rows() (out []*rows.Row) {
	for _, row := range r.Manifest.Rows {
		out = append(out, r.row(row))
	}
	return out
}

func (r *Results) row(row Row) *rows.Row {
	m := r.Manifest
	out := &rows.Row{
		Grid: m.Name, Title: m.Title, Paper: m.Paper, Size: m.Size, Dataset: row.Dataset, PaperDataset: row.PaperDataset,
		Method: row.Method, PaperMethod: row.PaperMethod, Increment: string(row.Increment),
		LabelSet: row.LabelSet, Timeline: row.Timeline, Seed: row.Seed, Cell: row.Cell, Program: m.Program, State: rows.Missing,
	}
	for _, name := range slices.Sorted(maps.Keys(row.Vary)) {
		out.Vary = append(out.Vary, rows.Setting{Name: name, Value: valueText(row.Vary[name])})
	}
	if reason, failed := r.Failures[row.Cell]; failed {
		out.State, out.Reason = rows.Failed, reason
	}
	if run := r.Runs[row.Cell]; run != nil {
		out.State, out.Result = rows.Done, resultOf(run)
		out.Seconds = r.Seconds[row.Cell]
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
