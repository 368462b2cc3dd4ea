// Package tables writes runs as tables for other programs: CSV, and LaTeX.
package tables

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/internal/csvcell"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// about are the columns by which the lines of all tables name their run. settings has those in
// which the runs of the table differ and that no other column has.
var about = []string{"id", "dataset", "increment", "method", "params", "variant", "labelset", "timeline", "seed",
	"settings"}

// told are the settings that columns of their own have.
var told = []string{"dataset", "increment", "method", "params", "labelset", "timeline", "seed"}

// differing returns, for each run, the settings in which the runs differ, as JSON; empty if there
// are none.
func differing(runs []*results.Run) []string {
	all := make([]map[string]string, len(runs))
	for i, r := range runs {
		all[i] = brief(r, r.Settings(told...))
	}
	names, out := results.Differing(all...), make([]string, len(runs))
	for i, settings := range all {
		maps.DeleteFunc(settings, func(name, _ string) bool { return !slices.Contains(names, name) })
		out[i] = object(settings)
	}
	return out
}

// object is a map as JSON; an empty one is an empty text.
func object[V any](m map[string]V) string {
	if len(m) == 0 {
		return ""
	}
	text, _ := json.Marshal(m) // whose values were read from JSON
	return string(text)
}

// brief has the beginning of a checksum in the place of a scenario that was played, which has a
// line for each task.
func brief(r *results.Run, settings map[string]string) map[string]string {
	maps.DeleteFunc(settings, func(name, _ string) bool { return strings.HasPrefix(name, "scenario.") })
	if sum := r.OwnScenario(); sum != "" {
		settings["scenario"] = sum
	}
	return settings
}

func aboutOf(r *results.Run) []string {
	return []string{
		r.ID, r.Dataset, r.Increment, r.Method, object(r.Params), r.Variant,
		strconv.FormatUint(r.LabelSet, 10), strconv.FormatUint(r.Timeline, 10), strconv.FormatUint(r.Seed, 10),
	}
}

// table has columns behind those by which its lines name their run. lines adds those of a run.
type table struct {
	columns string
	lines   func(r *results.Run, records []results.Record, add func(cells ...any))
}

// runColumns are what has always stood behind the columns by which a line names its run.
const runColumns = "tasks steps a_percent f_percent a_first_percent skipped_rows diverged_at step_ms " +
	"model_sha256 stored_bytes statistics_bytes"

var tables = map[string]table{
	"runs":     {runColumns, outcome},
	"accuracy": {"step task task_ended its_last accuracy_percent", accuracies},
	"steps":    {"step row loss loss_after weight sigma lambda slack norm_d", steps},
}

// CSV writes a table of runs: "runs" has a line for each run, "accuracy" for each task at each
// evaluation, and "steps" for each row of each step. For the last, records returns the records of a
// run; if no run has any, that is an error.
func CSV(out io.Writer, name string, runs []*results.Run, records func(i int) ([]results.Record, error)) error {
	made, known := tables[name]
	if !known {
		return fmt.Errorf("there is no table %q of runs; want runs, accuracy or steps", name)
	}
	recorded, some := make([][]results.Record, len(runs)), name != "steps"
	for i := 0; name == "steps" && i < len(runs); i++ {
		var err error
		if recorded[i], err = records(i); err != nil {
			return err
		}
		some = some || len(recorded[i]) > 0
	}
	if !some {
		return errors.New("none of the runs has records of its steps: pcl run --record keeps them")
	}
	settings := differing(runs)
	return csvcell.Write(out, func(yield func([]string) bool) {
		yield(slices.Concat(about, columnsOf(name)))
		for i, r := range runs {
			first := append(aboutOf(r), settings[i])
			made.lines(r, recorded[i], func(cells ...any) {
				line := slices.Clone(first)
				for _, c := range cells {
					line = append(line, csvcell.Text(c, -1)) // so that numbers are read as the same
				}
				yield(line)
			})
		}
	})
}

// columnsOf returns the columns of a table. Columns of new metrics come last, so that programs that
// count columns go on reading it.
func columnsOf(name string) []string {
	out := strings.Fields(tables[name].columns)
	if name == "runs" {
		for _, m := range results.Metrics[3:] {
			out = append(out, strings.ToLower(m.Name)+"_percent")
		}
	}
	return out
}

// outcome is the metrics, as in docs/protocol.md §3.1, and what the run was.
func outcome(r *results.Run, _ []results.Record, add func(...any)) {
	var diverged any
	if r.DivergedAt != nil {
		diverged = *r.DivergedAt
	}
	cells := []any{len(r.Tasks), r.Steps, r.A, r.F, r.AFirst, r.Skipped, diverged, r.Measured.StepMillis, r.ModelSHA256,
		r.Measured.StoredBytes, r.Measured.StatisticsBytes}
	for _, m := range results.Metrics[3:] {
		cells = append(cells, m.Of(r))
	}
	add(cells...)
}

// accuracies returns the accuracies of the tasks that had started. task_ended says whether the
// task's last step was made, and its_last whether this evaluation is the one after it.
func accuracies(r *results.Run, _ []results.Record, add func(...any)) {
	for _, p := range r.Curve {
		for k, acc := range p.Acc {
			if acc == nil || k >= len(r.Tasks) {
				continue
			}
			end := r.Tasks[k].End
			add(p.Step, k+1, p.Step >= end, p.Step == end, 100**acc)
		}
	}
}

// steps have the loss of each row, what the method made of it, and the step's ‖d‖.
func steps(_ *results.Run, records []results.Record, add func(...any)) {
	for _, r := range records {
		for k, id := range r.IDs {
			add(r.Step, id, at(r.Losses, k), at(r.LossesAfter, k), at(r.Weights, k), at(r.Sigma, k), at(r.Lambda, k),
				at(r.Slacks, k), r.NormD)
		}
	}
}

// at is an entry of a list that may be shorter.
func at(list []float64, k int) any {
	if k < len(list) {
		return list[k]
	}
	return nil
}
