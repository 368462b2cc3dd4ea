package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

// runsOf returns the finished runs of entries as figures take them: with the accuracies that the rows have, and no
// other.
func runsOf(entries []*findings.Entry) (out []*results.Run, err error) {
	for _, e := range entries {
		for _, r := range e.Rows {
			if r.State != rows.Done {
				continue
			}
			run, err := runOf(r)
			if err != nil {
				return nil, err
			}
			out = append(out, run)
		}
	}
	return out, nil
}

func runOf(r *rows.Row) (*results.Run, error) {
	run := &results.Run{
		ID: r.Run, Method: r.RunMethod, MethodTitle: r.Method, Dataset: r.DataSet, Increment: r.Increment,
		LabelSet: r.LabelSet, Timeline: r.Timeline, Seed: r.Seed, A: r.A, F: r.F, AFirst: r.AFirst, Steps: r.Steps,
	}
	for i, percent := range r.Ends {
		run.Tasks = append(run.Tasks, results.Task{ID: i + 1, End: i})
		run.Curve = append(run.Curve, results.Point{Step: i, Ended: []int{i + 1}, Mean: percent / 100})
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

// mostShown is the number of methods that a figure can keep apart for the eye.
const mostShown = 8

// often are the methods that figures of many methods show first.
var often = []string{"EMGD (recommended)", "EMGD(GMC)", "EMGD(GS)", "AvgGrad", "MGDA", "ER", "DER++", "MaxDO"}

// shown chooses those entries of a column that figures show: all if they are few, else the usual ones and the best.
func shown(c *findings.Column) []*findings.Entry {
	var made []*findings.Entry
	for _, e := range c.Entries {
		if e.Done > 0 {
			made = append(made, e)
		}
	}
	if len(made) <= mostShown {
		return made
	}
	order := slices.SortedStableFunc(slices.Values(made), func(a, b *findings.Entry) int {
		return cmp.Or(cmp.Compare(usual(a), usual(b)), -cmp.Compare(a.A.Mean, b.A.Mean))
	})
	return order[:mostShown]
}

// usual is the place of an entry among the usual ones, or the one behind all.
func usual(e *findings.Entry) int {
	if i := slices.Index(often, e.Name); i >= 0 {
		return i
	}
	return len(often)
}
