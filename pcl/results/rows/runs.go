package rows

import (
	"encoding/json"
	"hash/fnv"
	"strconv"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Of returns the rows of runs, of which each is a place of its own. Methods with other values are different ones, and so are those
// that were run with another network, memory or anything else. A scenario that was written by hand is a label set of its own.
func Of(runs []*results.Run) (out []*Row) {
	told := append([]string{"method", "params", "edit", "extra_update", "eval_every", "dataset", "data_sha256", "increment"}, results.Repetition...)
	settings := map[string][]map[string]string{} // of the runs of a label, in one data set and increment
	label := func(r *results.Run) string { return results.RunGroup{Runs: []*results.Run{r}}.Label() }
	key := func(r *results.Run) string { return r.Dataset + "\x00" + r.Increment + "\x00" + label(r) }
	for _, r := range runs {
		settings[key(r)] = append(settings[key(r)], r.Settings(told...))
	}
	for _, r := range runs {
		row := &Row{
			Dataset: r.Dataset, Method: label(r), Increment: r.Increment, LabelSet: r.LabelSet, Timeline: r.Timeline, Seed: r.Seed,
			Cell: r.ID, Program: r.Measured.Program, State: Done, Result: resultOf(r),
		}
		own := r.Settings(told...)
		for _, setting := range results.Differing(settings[key(r)]...) {
			row.Method += " " + setting + "=" + own[setting]
		}
		if played := r.OwnScenario(); played != "" {
			h := fnv.New64a()
			h.Write([]byte(played))
			row.LabelSet = h.Sum64()
		}
		out = append(out, row)
	}
	return out
}

// resultOf returns what is kept of a run.
func resultOf(run *results.Run) Result {
	m := run.Measured
	out := Result{
		A: run.A, F: run.F, AFirst: run.AFirst, Steps: run.Steps, Skipped: run.Skipped,
		Seconds: m.TrainSeconds + m.EvalSeconds, TrainSeconds: m.TrainSeconds, EvalSeconds: m.EvalSeconds, StepMillis: m.StepMillis,
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

// Runs returns the finished runs of rows as figures take them, such as [viz.Temperature]: with the accuracies that the
// rows have, and no other.
//
// [viz.Temperature]: https://pkg.go.dev/github.com/parallelcl/parallelcl/viz#Temperature
func Runs(all []*Row) (out []*results.Run) {
	for _, r := range all {
		if r.State == Done {
			out = append(out, r.run())
		}
	}
	return out
}

func (r *Row) run() *results.Run {
	run := &results.Run{
		ID: r.Run, Method: r.RunMethod, MethodTitle: r.Method, Dataset: r.Dataset, Increment: r.Increment,
		LabelSet: r.LabelSet, Timeline: r.Timeline, Seed: r.Seed, A: r.A, F: r.F, AFirst: r.AFirst, Steps: r.Steps, Curve: r.curve(),
	}
	for i := range r.Ends {
		run.Tasks = append(run.Tasks, results.Task{ID: i + 1, End: i})
	}
	// What the grid calls the method tells its entries apart, of which several may be of one method.
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
	run.Config, _ = json.Marshal(config) // empty for a budget that is not a number
	return run
}

// curve has a point for each end of a task, at steps that only count them.
func (r *Row) curve() (out []results.Point) {
	for i, percent := range r.Ends {
		out = append(out, results.Point{Step: i, Ended: []int{i + 1}, Mean: percent / 100})
	}
	return out
}
