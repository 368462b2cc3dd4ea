package viz

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Group holds the runs of one method with one set of parameters, one variant (memory editing, an extra
// update) and equal settings, which differ in seed, label set or timeline only ([results.Repetition]): the repetitions over which figures and tables
// average.
type Group struct {
	Method  string // e.g. "emgd-gmc"
	Variant string // e.g. "edit η=0.003 drift≤0.02"; empty: the plain method
	Label   string // as in print, with the variant, and the parameters where several groups would else share it
	Runs    []*results.Run
	Style   Style // in figures of all groups

	key      string // what its runs have in common
	settings map[string]string
}

// Groups sorts runs into groups, in the order of their first run. It returns an error if a run
// is malformed or if they are not all of one data set and one increment.
func Groups(runs []*results.Run) ([]Group, error) {
	return groupsBut(runs)
}

// groupsBut is [Groups] of runs that may also differ in some settings, such as the one that a figure has on its
// axis.
func groupsBut(runs []*results.Run, settings ...string) ([]Group, error) {
	told := append([]string{"method", "params", "edit", "extra_update", "eval_every"}, results.Repetition...)
	told = append(told, settings...)
	groups, err := groupBy(runs, func(r *results.Run) map[string]string { return r.Settings(told...) })
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if r.Dataset != runs[0].Dataset || r.Increment != runs[0].Increment {
			return nil, fmt.Errorf("viz: run %s is %s, %s-incremental and run %s is %s, %s-incremental: draw them in two figures",
				runs[0].ID, runs[0].Dataset, runs[0].Increment, r.ID, r.Dataset, r.Increment)
		}
	}
	dress(groups)
	return groups, nil
}

// byMethod sorts runs by their method, its parameters and its variant alone: data sets have settings of their
// own.
func byMethod(runs []*results.Run) ([]Group, error) {
	return groupBy(runs, func(*results.Run) map[string]string { return nil })
}

// groupBy sorts runs by their method, its parameters, its variant and further settings.
func groupBy(runs []*results.Run, also func(*results.Run) map[string]string) ([]Group, error) {
	if len(runs) == 0 {
		return nil, errors.New("viz: no runs to draw")
	}
	var groups []Group
	for _, r := range runs {
		if r == nil || len(r.Tasks) == 0 {
			return nil, errors.New("viz: a run is nil or has no tasks")
		}
		own := groupOf(r, also(r))
		i := slices.IndexFunc(groups, func(g Group) bool { return g.key == own.key })
		if i < 0 {
			i = len(groups)
			groups = append(groups, own)
		}
		groups[i].Runs = append(groups[i].Runs, r)
	}
	tellApart(groups)
	return groups, nil
}

// groupOf returns the group that a run belongs to, still without it.
func groupOf(r *results.Run, settings map[string]string) Group {
	g := Group{Method: r.Method, Variant: r.Variant, Label: cmp.Or(r.MethodTitle, r.Method), settings: settings}
	if g.Variant != "" {
		g.Label += " + " + g.Variant
	}
	g.key = fmt.Sprintf("%s\n%s\n%s\n%v", r.Method, r.ParamText(), r.Variant, settings) // 5 and "5", as a flag says it, are one value
	return g
}

// tellApart adds to labels that several groups share what these groups do not share: the parameters, then the
// settings.
func tellApart(groups []Group) {
	for _, same := range sharing(groups) {
		for _, g := range same {
			g.Label = strings.TrimSpace(g.Label + " " + g.Runs[0].ParamText())
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
func sharing(groups []Group) map[string][]*Group {
	out := map[string][]*Group{}
	for i := range groups {
		out[groups[i].Label] = append(out[groups[i].Label], &groups[i])
	}
	maps.DeleteFunc(out, func(_ string, same []*Group) bool { return len(same) < 2 })
	return out
}

// dress gives groups styles: those of one label the same, and no two labels the same.
func dress(all ...[]Group) {
	var once []Group
	with := func(g Group) int { return slices.IndexFunc(once, func(o Group) bool { return o.Label == g.Label }) }
	for _, g := range slices.Concat(all...) {
		if with(g) < 0 {
			once = append(once, g)
		}
	}
	styles := named(looksOf(once))
	for _, groups := range all {
		for i, g := range groups {
			groups[i].Style = styles[with(g)]
		}
	}
}

func looksOf(groups []Group) []string {
	methods := make([]string, len(groups))
	for i, g := range groups {
		methods[i] = g.Method
	}
	return looks(methods, func(i int) bool { return groups[i].Variant == "" })
}

// looks are names of styles for [Methods], of which no two are the same: the first plain one of a rule has its
// look, and what else has this rule, with other parameters, in a composition or as a variant, has shades of it.
func looks(methods []string, plain func(i int) bool) []string {
	taken, variants, out := map[string]bool{}, map[string]int{}, make([]string, len(methods))
	for i, method := range methods {
		rule, _, _ := strings.Cut(method, "+")
		if out[i] = rule; !taken[rule] && plain(i) {
			taken[rule] = true
			continue
		}
		variants[rule]++
		out[i] = fmt.Sprintf("%s+%d", rule, variants[rule])
	}
	return out
}

// named are the styles of names, in their order.
func named(names []string) []Style {
	styles, out := Methods(names...), make([]Style, len(names))
	for i, name := range names {
		out[i] = styles[name]
	}
	return out
}

// meanStd returns the mean and the population standard deviation.
func meanStd(xs []float64) (mean, std float64) {
	m := results.MomentOf(xs...)
	return m.Mean, m.Std()
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
