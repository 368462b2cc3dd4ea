package rows

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Foreign ends the names of methods whose results another program made, or a person wrote.
const Foreign = " (foreign)"

// needed are the columns that a table of runs must have; runColumns are all that it may have, as
// package tables writes them, besides those of further metrics.
var (
	needed     = []string{"dataset", "increment", "method", "a_percent"}
	runColumns = append(strings.Fields(
		"id params variant labelset timeline seed settings tasks steps f_percent a_first_percent "+
			"skipped_rows diverged_at step_ms model_sha256"), needed...)
)

// runNumbers are the columns that have numbers.
func runNumbers() []column {
	out := []column{
		{"labelset", func(r *Row) any { return &r.LabelSet }, always},
		{"timeline", func(r *Row) any { return &r.Timeline }, always},
		{"seed", func(r *Row) any { return &r.Seed }, always},
		{"steps", func(r *Row) any { return &r.Run.Steps }, always},
		{"a_percent", func(r *Row) any { return &r.Run.A }, always},
		{"f_percent", func(r *Row) any { return &r.Run.F }, always},
		{"a_first_percent", func(r *Row) any { return &r.Run.AFirst }, always},
		{"skipped_rows", func(r *Row) any { return &r.Run.Skipped }, always},
		{"diverged_at", func(r *Row) any { return &r.Run.DivergedAt }, always},
		{"step_ms", func(r *Row) any { return &r.Run.Measured.StepMillis }, always},
	}
	out = append(out, byteColumns...)
	for _, m := range results.Metrics[3:] {
		out = append(out, column{strings.ToLower(m.Name) + "_percent", func(r *Row) any { return r.keep(m) }, further})
	}
	return out
}

// ofRuns reads lines that package tables wrote, one for each run. A line without an id is of
// another program: its method gets the mark [Foreign], and one of F and A_first is enough.
func ofRuns(lines [][]string) (out []*Row, err error) {
	names := lines[0]
	for _, name := range names {
		isNumber := func(c column) bool { return c.name == name }
		if !slices.Contains(runColumns, name) && !slices.ContainsFunc(runNumbers(), isNumber) {
			return nil, fmt.Errorf("its column %q is not one of a table of runs; want %s", name, strings.Join(runColumns, ", "))
		}
	}
	for _, name := range needed {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("it has no column %q; want %s", name, strings.Join(needed, ", "))
		}
	}
	for i, line := range lines[1:] {
		values := map[string]string{}
		for k, name := range names {
			values[name] = line[k]
		}
		r, err := ofRun(values)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func ofRun(v map[string]string) (r *Row, err error) {
	run := &results.Run{ID: v["id"], Method: v["method"], Variant: v["variant"], ModelSHA256: v["model_sha256"]}
	r = &Row{Grid: "runs", Dataset: v["dataset"], Increment: v["increment"], Cell: v["id"], State: Done, Run: run}
	for _, name := range needed {
		if v[name] == "" {
			return nil, fmt.Errorf("%s is empty; want a value", name)
		}
	}
	if r.Method, err = methodOf(v); err != nil {
		return nil, err
	}
	for _, c := range runNumbers() {
		text := v[c.name]
		if _, fraction := c.at(r).(*float64); !fraction {
			text = strings.TrimSuffix(text, ".0") // pandas writes whole numbers so where a column has gaps
		}
		if text == "" {
			continue
		}
		if err := c.set(r, text); err != nil {
			return nil, err
		}
	}
	if v["id"] != "" {
		return r, run.Check()
	}
	switch {
	case v["f_percent"] == "" && v["a_first_percent"] == "":
		return nil, errors.New("it has neither f_percent nor a_first_percent; want a_first_percent, " +
			"the mean accuracy of the tasks at their own ends, or f_percent, " +
			"which is a_percent - a_first_percent (below 0 where accuracy was lost)")
	case v["f_percent"] == "":
		run.F = run.A - run.AFirst
	case v["a_first_percent"] == "":
		run.AFirst = run.A - run.F
	}
	r.Method += Foreign
	h := fnv.New64a()
	fmt.Fprint(h, r.Dataset, "\x00", r.Increment, "\x00", r.Method, "\x00", r.LabelSet, " ", r.Timeline, " ", r.Seed)
	r.Cell = fmt.Sprintf("foreign-%x", h.Sum64())
	return r, run.Check()
}

// methodOf is what a line is called: the method, its parameters, what was done besides, and
// settings in which runs differ.
func methodOf(v map[string]string) (string, error) {
	run, settings := results.Run{Method: v["method"], Variant: v["variant"]}, results.Run{}
	for _, c := range []struct {
		name string
		to   *map[string]any
	}{{"params", &run.Params}, {"settings", &settings.Params}} {
		if v[c.name] != "" {
			if err := json.Unmarshal([]byte(v[c.name]), c.to); err != nil {
				return "", fmt.Errorf("%s: want a JSON object such as {\"tau\":5}: %w", c.name, err)
			}
		}
	}
	return strings.Join(strings.Fields(run.Label()+" "+settings.ParamText()), " "), nil
}
