package results

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Experiment is what the repetitions of a run have in common. It is the key by which figures and
// tables gather the runs that they average.
type Experiment struct {
	Benchmark
	Method   string // e.g. "emgd-gmc"
	Params   string // as [Run.ParamText] has them
	Variant  string // e.g. "edit η=0.003 drift≤0.02"; empty for the plain method
	Settings string // the rest of the configuration, as JSON
}

// labelled are the settings that a label of the method, its parameters and its variant tells, and
// how often the run was evaluated.
var labelled = []string{"method", "params", "edit", "extra_update", "eval_every"}

// Experiment returns the experiment of which the run is a repetition. Runs that differ only in the
// named settings are of one experiment, too.
func (r *Run) Experiment(but ...string) Experiment {
	rest, _ := json.Marshal(r.Rest(but...)) // a map of texts
	return Experiment{r.Benchmark(), r.Method, r.ParamText(), r.Variant, string(rest)}
}

// Rest returns the settings that neither the run's label nor its trial tells, without the named
// ones.
func (r *Run) Rest(but ...string) map[string]string {
	return r.Settings(slices.Concat(labelled, Repetition, but)...)
}

// RunGroup holds runs that have something in common; see [Group] and [GroupBy].
type RunGroup struct {
	Runs []*Run
}

// GroupBy gathers runs of equal keys, in order of first appearance.
func GroupBy[K comparable](runs []*Run, key func(*Run) K) []RunGroup {
	var out []RunGroup
	index := map[K]int{}
	for _, r := range runs {
		k := key(r)
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, RunGroup{})
		}
		out[i].Runs = append(out[i].Runs, r)
	}
	return out
}

// Group gathers runs that differ only in their seed, or in further settings, in order of first
// appearance. A run that is given twice counts once: the same seed again does not repeat the
// experiment.
func Group(runs []*Run, further ...string) []RunGroup {
	out := GroupBy(runs, func(r *Run) string { return r.settings(append(further, "seed")...) })
	for i := range out {
		out[i].Runs = once(out[i].Runs)
	}
	return out
}

// once leaves out the runs that come again.
func once(runs []*Run) (out []*Run) {
	for _, r := range runs {
		if !slices.ContainsFunc(out, func(o *Run) bool { return o == r || o.ID == r.ID && r.ID != "" }) {
			out = append(out, r)
		}
	}
	return out
}

// settings is the configuration without some settings, as one text.
func (r *Run) settings(without ...string) string {
	settings := r.Settings(without...)
	if len(settings) == 0 {
		return r.ID // a run of unknown configuration stands alone
	}
	return fmt.Sprint(settings) // in the order of the names
}

// OneTimeline reports whether all runs have their tasks at the same steps.
func OneTimeline(runs []*Run) bool {
	for _, r := range runs[1:] {
		same := func(a, b Task) bool { return a.Start == b.Start && a.End == b.End }
		if !slices.EqualFunc(r.Tasks, runs[0].Tasks, same) {
			return false
		}
	}
	return true
}

// Label names the method of the group's first run; see [Run.Label].
func (g RunGroup) Label() string { return g.Runs[0].Label() }

// Label names the run's method, its parameters and its variant, e.g. "emgd-gmc tau=1".
func (r *Run) Label() string {
	return strings.Join(strings.Fields(r.Method+" "+r.ParamText()+" "+r.Variant), " ")
}

// ParamText lists the method's parameters by name, e.g. "momentum=0.5 tau=1".
func (r *Run) ParamText() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, r.Params[name]))
	}
	return strings.Join(parts, " ")
}

// Moment summarises a number, such as A, over the group's runs.
func (g RunGroup) Moment(number func(*Run) float64) Moment {
	var m Moment
	for _, r := range g.Runs {
		m.Add(number(r))
	}
	return m
}
