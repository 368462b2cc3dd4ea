package viz

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// repetitions holds the runs of one method with one set of parameters, one variant (memory editing,
// an extra update) and equal settings, which differ in seed, label set or timeline only
// ([results.Repetition]): the repetitions over which figures and tables average.
type repetitions struct {
	Method  string // e.g. "emgd-gmc"
	Variant string // e.g. "edit η=0.003 drift≤0.02"; empty: the plain method
	Label   string // as in print, with the variant, and the parameters where several groups would else share it
	Runs    []*results.Run
	Style   Style // in figures of all groups

	params   string
	settings map[string]string
}

// RunLabels returns a label for each run, as figures of all these runs have it. The labels are the
// methods' display names: the title and variant, and parameters and settings where several methods
// would otherwise have the same label. It returns an error if a run has no tasks, or if the runs
// differ in data set or increment.
func RunLabels(runs []*results.Run) ([]string, error) {
	groups, err := grouped(runs)
	labels := make([]string, len(runs))
	for _, g := range groups {
		for _, r := range g.Runs {
			labels[slices.Index(runs, r)] = g.Label
		}
	}
	return labels, err
}

// grouped sorts runs into groups, in the order of their first run.
func grouped(runs []*results.Run) ([]repetitions, error) {
	return groupsOf(runs, (*results.Run).ParamText)
}

// groupsOf is [grouped] where params tells the parameters of a run, in which those of a group may
// not differ. The runs may also differ in some settings, such as the one that a figure has on its
// axis.
func groupsOf(runs []*results.Run, params func(*results.Run) string, but ...string) ([]repetitions, error) {
	if len(runs) == 0 {
		return nil, errors.New("viz: no runs to draw")
	}
	for _, r := range runs {
		if len(r.Tasks) == 0 || r.Benchmark() != runs[0].Benchmark() {
			return nil, fmt.Errorf("viz: run %s is %s, and run %s is %s, with %d tasks: "+
				"want runs with tasks, and one figure for each data set and increment",
				runs[0].ID, runs[0].Benchmark(), r.ID, r.Benchmark(), len(r.Tasks))
		}
	}
	experiment := func(r *results.Run) results.Experiment {
		e := r.Experiment(but...)
		e.Params = params(r) // as texts: 5 and "5", as a flag says it, are one value
		return e
	}
	var groups []repetitions
	for _, same := range results.GroupBy(runs, experiment) {
		r := same.Runs[0]
		g := repetitions{
			Method: r.Method, Variant: r.Variant, Label: cmp.Or(r.MethodTitle, r.Method), Runs: same.Runs,
			params: params(r), settings: r.Rest(but...),
		}
		if g.Variant != "" {
			g.Label += " + " + g.Variant
		}
		groups = append(groups, g)
	}
	tellApart(groups)
	dress(groups)
	return groups, nil
}

// tellApart adds to labels that several groups share what these groups do not share: the
// parameters, then the settings.
func tellApart(groups []repetitions) {
	for _, same := range sharing(groups) {
		for _, g := range same {
			g.Label = strings.TrimSpace(g.Label + " " + g.params)
		}
	}
	for _, same := range sharing(groups) {
		var all []map[string]string
		for _, g := range same {
			all = append(all, g.settings)
		}
		for _, name := range results.Differing(all...) {
			for _, g := range same {
				g.Label += " " + name + "=" + g.settings[name]
			}
		}
	}
}

// sharing lists the groups of equal label, where there are several.
func sharing(groups []repetitions) map[string][]*repetitions {
	out := map[string][]*repetitions{}
	for i := range groups {
		out[groups[i].Label] = append(out[groups[i].Label], &groups[i])
	}
	maps.DeleteFunc(out, func(_ string, same []*repetitions) bool { return len(same) < 2 })
	return out
}

// dress gives groups styles: groups of one label get the same style, and no two labels share one.
func dress(all ...[]repetitions) {
	var labels, methods []string
	var variants []bool
	for _, g := range slices.Concat(all...) {
		if !slices.Contains(labels, g.Label) {
			labels, methods, variants = append(labels, g.Label), append(methods, g.Method), append(variants, g.Variant != "")
		}
	}
	styles := Styles(methods, variants...)
	for _, groups := range all {
		for i, g := range groups {
			groups[i].Style = styles[slices.Index(labels, g.Label)]
		}
	}
}

// meanStd returns the mean and the population standard deviation.
func meanStd(xs []float64) (mean, std float64) {
	m := results.MomentOf(xs...)
	return m.Mean, m.Std()
}

func finals(runs []*results.Run) []float64 {
	return each(runs, func(r *results.Run) float64 { return r.A })
}
