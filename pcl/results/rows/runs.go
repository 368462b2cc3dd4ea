package rows

import (
	"encoding/json"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Of returns a row for each run. Where runs of a method, with the same parameters, differ in
// another setting (network, memory, …), the setting is added to Row.Method, so that they count as
// different methods. A scenario written by hand counts as a label set of its own, numbered by its
// hash.
func Of(runs []*results.Run) (out []*Row) {
	rest := func(r *results.Run) map[string]string { return r.Rest("dataset", "data_sha256", "increment") }
	type line struct {
		results.Benchmark
		label string
	}
	lineOf := func(r *results.Run) line { return line{r.Benchmark(), r.Label()} }
	differing := map[line][]string{} // in which the runs of a line differ
	for _, g := range results.GroupBy(runs, lineOf) {
		var all []map[string]string
		for _, r := range g.Runs {
			all = append(all, rest(r))
		}
		differing[lineOf(g.Runs[0])] = results.Differing(all...)
	}
	for _, r := range runs {
		row := &Row{
			Dataset: r.Dataset, Method: r.Label(), Increment: r.Increment, Trial: r.Trial(),
			Cell: r.ID, Program: r.Measured.Program,
		}
		row.Finish(r)
		own := rest(r)
		for _, setting := range differing[lineOf(r)] {
			row.Method += " " + setting + "=" + own[setting]
		}
		out = append(out, row)
	}
	return out
}

// Finish gives the row the result of its run.
func (r *Row) Finish(run *results.Run) {
	r.State, r.Run, r.Seconds = Done, run, run.Measured.Seconds()
}

// Runs returns the finished runs of rows as figures take them, such as [viz.Temperature]: under the
// names that the grid has for its data sets and methods, and with the accuracies that a CSV file
// tells.
//
// [viz.Temperature]: https://pkg.go.dev/github.com/parallelcl/parallelcl/viz#Temperature
func Runs(all []*Row) (out []*results.Run) {
	for _, r := range all {
		if r.State == Done {
			out = append(out, r.named())
		}
	}
	return out
}

func (r *Row) named() *results.Run {
	own := r.Run
	run := &results.Run{
		ID: own.ID, Method: own.Method, MethodTitle: r.Method, Dataset: r.Dataset, Increment: r.Increment,
		LabelSet: r.LabelSet, Timeline: r.Timeline, Seed: r.Seed,
		A: own.A, F: own.F, AFirst: own.AFirst, Steps: own.Steps,
	}
	for i, percent := range ends(own.Curve) {
		run.Tasks = append(run.Tasks, results.Task{ID: i + 1, End: i})
		run.Curve = append(run.Curve, results.Point{Step: i, Ended: []int{i + 1}, Mean: percent / 100})
	}
	// Several entries of a grid may be one method with other settings: the grid's name for it tells
	// them apart.
	config := map[string]any{"entry": r.Method}
	for _, s := range r.Vary {
		switch s.Name {
		case "memory.budget":
			config["memory"] = map[string]any{"budget": json.Number(s.Value)}
		case "params.tau":
			run.Params = map[string]any{"tau": s.Value}
		default:
			config[s.Name] = s.Value
		}
	}
	run.Config, _ = json.Marshal(config) // nil if memory.budget is not a number
	return run
}
