package rows

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Foreign ends the names of methods whose results another program made, or a person wrote.
const Foreign = " (foreign)"

// runColumns are those of a line for each run, as package tables writes it. A line may do without the others.
var (
	needed     = []string{"dataset", "increment", "method", "a_percent"}
	runColumns = append(strings.Fields("id params variant labelset timeline seed settings tasks steps f_percent a_first_percent "+
		"skipped_rows diverged_at step_ms model_sha256"), needed...)
)

// ofRuns reads lines that package tables wrote, one for each run. A line without an id is of another program: its method gets
// the mark [Foreign], and one of F and A_first is enough.
func ofRuns(lines [][]string) (out []*Row, err error) {
	names := lines[0]
	for _, name := range names {
		if !slices.Contains(runColumns, name) {
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
	r = &Row{
		Grid: "runs", Dataset: v["dataset"], Increment: v["increment"], Cell: v["id"], State: Done,
		Result: Result{Run: v["id"], RunMethod: v["method"], RunVariant: v["variant"], Diverged: strings.TrimSuffix(v["diverged_at"], ".0"), Model: v["model_sha256"]},
	}
	for _, name := range needed {
		if v[name] == "" {
			return nil, fmt.Errorf("%s is empty; want a value", name)
		}
	}
	if r.Method, err = methodOf(v); err != nil {
		return nil, err
	}
	for _, at := range []struct {
		name string
		to   *float64
	}{{"a_percent", &r.A}, {"f_percent", &r.F}, {"a_first_percent", &r.AFirst}, {"step_ms", &r.StepMillis}} {
		if v[at.name] == "" {
			continue
		}
		if *at.to, err = finite(v[at.name]); err != nil {
			return nil, fmt.Errorf("%s: %w", at.name, err)
		}
	}
	for name, to := range map[string]any{
		"labelset": &r.LabelSet, "timeline": &r.Timeline, "seed": &r.Seed, "steps": &r.Steps, "skipped_rows": &r.Skipped,
	} {
		if v[name] == "" {
			continue
		}
		whole := strings.TrimSuffix(v[name], ".0") // pandas writes whole numbers so where a column has gaps
		switch to := to.(type) {
		case *uint64:
			*to, err = strconv.ParseUint(whole, 10, 64)
		case *int:
			*to, err = strconv.Atoi(whole)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if v["id"] != "" {
		return r, r.check()
	}
	switch {
	case v["f_percent"] == "" && v["a_first_percent"] == "":
		return nil, fmt.Errorf("it has neither f_percent nor a_first_percent; want one, the mean accuracy of a task at its own end in percent, or how much of that is lost")
	case v["f_percent"] == "":
		r.F = r.A - r.AFirst
	case v["a_first_percent"] == "":
		r.AFirst = r.A - r.F
	}
	r.Method += Foreign
	h := fnv.New64a()
	fmt.Fprint(h, r.Dataset, "\x00", r.Increment, "\x00", r.Method, "\x00", r.LabelSet, " ", r.Timeline, " ", r.Seed)
	r.Cell = fmt.Sprintf("foreign-%x", h.Sum64())
	return r, r.check()
}

// methodOf is what a line is called: the method, its parameters, what was done besides, and settings in which runs differ.
func methodOf(v map[string]string) (string, error) {
	run, settings := results.Run{Method: v["method"], Variant: v["variant"]}, results.Run{}
	for name, to := range map[string]*map[string]any{"params": &run.Params, "settings": &settings.Params} {
		if v[name] != "" {
			if err := json.Unmarshal([]byte(v[name]), to); err != nil {
				return "", fmt.Errorf("%s: want a JSON object such as {\"tau\":5}: %w", name, err)
			}
		}
	}
	return strings.Join(strings.Fields(results.RunGroup{Runs: []*results.Run{&run}}.Label()+" "+settings.ParamText()), " "), nil
}
