package results

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// RunGroup holds runs that differ only in their seed, or in little more; see [Group].
type RunGroup struct {
	Runs []*Run
}

// Group gathers runs that differ only in their seed, or in further settings, in order of first appearance. A run that is given
// twice counts once: the same seed again does not repeat the experiment.
func Group(runs []*Run, further ...string) []RunGroup {
	var out []RunGroup
	index := map[string]int{}
	for _, r := range runs {
		key := r.settings(append(further, "seed")...)
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, RunGroup{})
		}
		if !slices.ContainsFunc(out[i].Runs, func(other *Run) bool { return other == r || other.ID == r.ID && r.ID != "" }) {
			out[i].Runs = append(out[i].Runs, r)
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

// OneTimeline says whether all runs have their tasks at the same steps.
func OneTimeline(runs []*Run) bool {
	for _, r := range runs[1:] {
		if !slices.EqualFunc(r.Tasks, runs[0].Tasks, func(a, b Task) bool { return a.Start == b.Start && a.End == b.End }) {
			return false
		}
	}
	return true
}

// Label names the group's method, its parameters and its variant, e.g. "emgd-gmc tau=1".
func (g RunGroup) Label() string {
	r := g.Runs[0]
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
func (g RunGroup) Moment(figure func(*Run) float64) Moment {
	var m Moment
	for _, r := range g.Runs {
		m.Add(figure(r))
	}
	return m
}
