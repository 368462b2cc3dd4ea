package viz

import (
	"cmp"
	"errors"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// setting is the runs of one data set and increment: a panel of the figures that compare several.
type setting struct {
	title string
	runs  []*results.Run
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

// panels puts plots into rows of at most three and keeps the axes' labels at the outside only.
func panels(plots []*plot.Plot) [][]*plot.Plot {
	columns := min(3, len(plots))
	if len(plots) == 4 {
		columns = 2
	}
	var rows [][]*plot.Plot
	for i, p := range plots {
		if i%columns == 0 {
			rows = append(rows, nil)
		} else {
			p.Y.Label.Text = ""
		}
		if i+columns < len(plots) {
			p.X.Label.Text = ""
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], p)
	}
	return rows
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
	var looks []string
	for _, g := range groups {
		looks = append(looks, g.look)
	}
	return t.Methods(looks...)
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

func rowsOf(f *Figure) vg.Length { return vg.Length(len(f.Rows)) }
