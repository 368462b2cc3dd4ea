package rows

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Runs returns the finished runs of rows as figures take them, such as [viz.Temperature]: with the accuracies that the
// rows have, and no other.
//
// [viz.Temperature]: https://pkg.go.dev/github.com/parallelcl/parallelcl/viz#Temperature
func Runs(all []*Row) (out []*results.Run, err error) {
	for _, r := range all {
		if r.State != Done {
			continue
		}
		run, err := r.run()
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", r.Line(), r.Grid, err)
		}
		out = append(out, run)
	}
	return out, nil
}

func (r *Row) run() (*results.Run, error) {
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
			budget, err := strconv.ParseFloat(s.Value, 64)
			if err != nil {
				return nil, fmt.Errorf("memory.budget: %w", err)
			}
			config["memory"] = map[string]any{"budget": budget}
		case "params.tau":
			run.Params = map[string]any{"tau": s.Value}
		default:
			config[s.Name] = s.Value
		}
	}
	var err error
	run.Config, err = json.Marshal(config)
	return run, err
}

// curve has a point for each end of a task, at steps that only count them.
func (r *Row) curve() (out []results.Point) {
	for i, percent := range r.Ends {
		out = append(out, results.Point{Step: i, Ended: []int{i + 1}, Mean: percent / 100})
	}
	return out
}
