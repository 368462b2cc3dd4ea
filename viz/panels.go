package viz

import (
	"cmp"
	"errors"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// setting is the runs of one data set and increment: a panel of the figures that compare several.
type setting struct {
	title  string
	runs   []*results.Run
	groups []Group
}

// settings sorts runs into settings, the task-incremental ones first, data sets by first run.
func settings(runs []*results.Run) ([]setting, error) {
	if len(runs) == 0 {
		return nil, errors.New("viz: no runs to draw")
	}
	var out []setting
	for _, r := range runs {
		if err := checkRun(r); err != nil {
			return nil, err
		}
		title := r.Dataset + ", " + r.Increment + "-incremental"
		i := slices.IndexFunc(out, func(s setting) bool { return s.title == title })
		if i < 0 {
			i = len(out)
			out = append(out, setting{title: title})
		}
		out[i].runs = append(out[i].runs, r)
	}
	byIncrement := func(a, b setting) int { return cmp.Compare(b.runs[0].Increment, a.runs[0].Increment) }
	slices.SortStableFunc(out, byIncrement)
	return out, nil
}

// compare gives the groups of each setting styles, in which a method looks alike in all of them, and names them in a key.
func (t *Theme) compare(parts []setting) (map[string]Style, []keyEntry, error) {
	split := make([][]Group, len(parts))
	for i := range parts {
		groups, err := Groups(parts[i].runs)
		if err != nil {
			return nil, nil, err
		}
		parts[i].groups, split[i] = groups, groups
	}
	all := dressAlike(split...)
	styles := t.stylesOf(all)
	return styles, keyOf(all, styles), nil
}

// keyOf names the methods of several settings, each once.
func keyOf(groups []Group, styles map[string]Style) []keyEntry {
	return methodKey(oncePerLabel(groups), styles)
}

// oncePerLabel returns the first group of each label.
func oncePerLabel(groups []Group) (once []Group) {
	for _, g := range groups {
		if !slices.ContainsFunc(once, func(o Group) bool { return o.Label == g.Label }) {
			once = append(once, g)
		}
	}
	return once
}

// stylesOf keeps the methods of a figure apart.
func (t *Theme) stylesOf(groups []Group) map[string]Style {
	names := make([]string, len(groups))
	for i, g := range groups {
		names[i] = g.look
	}
	return t.Methods(names...)
}

// Groups returns the styles that groups of runs have in a figure of all of them, such as [Accuracy].
func (t *Theme) Groups(groups []Group) []Style {
	styles := t.stylesOf(groups)
	out := make([]Style, len(groups))
	for i, g := range groups {
		out[i] = styles[g.look]
	}
	return out
}
