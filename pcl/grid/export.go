package grid

import (
	"maps"
	"slices"

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
		out.State, out.Result, out.Program = rows.Done, rows.ResultOf(run), run.Measured.Program
		out.Seconds = run.Measured.TrainSeconds + run.Measured.EvalSeconds
	}
	return out
}
