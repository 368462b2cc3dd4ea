package viz

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// setting is the runs of one data set and increment: a panel of the figures that compare several.
type setting struct {
	title  string
	runs   []*results.Run
	groups []repetitions
}

// settings sorts runs into settings, the task-incremental ones first, data sets by first run.
func settings(runs []*results.Run) (out []setting) {
	for _, g := range results.GroupBy(runs, (*results.Run).Benchmark) {
		out = append(out, setting{title: g.Runs[0].Benchmark().String(), runs: g.Runs})
	}
	slices.SortStableFunc(out, func(a, b setting) int { return cmp.Compare(b.runs[0].Increment, a.runs[0].Increment) })
	return out
}

// compare sorts the runs of each setting into groups, as [groupsOf] does.
func compare(runs []*results.Run, params func(*results.Run) string, but ...string) ([]setting, error) {
	parts := settings(runs)
	var all [][]repetitions
	for i := range parts {
		groups, err := groupsOf(parts[i].runs, params, but...)
		if err != nil {
			return nil, err
		}
		parts[i].groups, all = groups, append(all, groups)
	}
	dress(all...)
	return parts, nil
}

// LearningProcess draws the average accuracy over the tasks started so far at each task's end (the
// paper's Fig. 7), for each data set and increment. It must show how the order of the methods
// changes from task to task, and whether they differ by more than repeated runs do. Three to six
// methods get a plot each, over the others in grey; more methods share one plot, without their
// spread. The axis counts task ends, so that different timelines can be averaged; see [Accuracy]
// for steps.
func LearningProcess(runs ...*results.Run) (*Figure, error) {
	parts, err := compare(runs, (*results.Run).ParamText)
	if err != nil {
		return nil, err
	}
	var plots []*Plot
	height := vg.Length(260)
	f := Figure{Name: "learning-process",
		Alt: fmt.Sprintf("Average accuracy over the started tasks at each task's end, in %s.",
			plural.Of(len(parts), "setting")),
		Data: Table{Head: []string{"setting", "method", "tasks_ended", "accuracy_percent", "std_percent", "runs"}}}
	for _, part := range parts {
		curves := make([]curve, len(part.groups))
		for i, g := range part.groups {
			if curves[i], err = endCurve(g.Runs); err != nil {
				return nil, err
			}
			addCurve(&f.Data, curves[i], part.title, g.Label)
		}
		if n := len(curves); n <= 2 || n > 6 {
			p := NewPlot(part.title, "tasks ended", "accuracy over started tasks, %")
			for i, c := range curves {
				addEndCurve(p, part.groups[i], c, n <= 2)
			}
			plots = append(plots, p)
			continue
		}
		height = 170 // of small multiples
		var multiples []*plot.Plot
		for i, g := range part.groups {
			title := g.Label
			if len(parts) > 1 {
				title = part.title + "\n" + title
			}
			p := NewPlot(title, "tasks ended", "accuracy, %")
			p.HideLabels() // the title has it
			pale := Style{Color: Background.Mix(Muted, 0.45), Width: 0.8}
			for k, c := range curves {
				if k != i {
					p.Add(&Curve{Label: part.groups[k].Label, Style: pale, XY: c.means(), Unlisted: true})
				}
			}
			addEndCurve(p, g, curves[i], true)
			plots, multiples = append(plots, p), append(multiples, p.Plot)
		}
		sameAxis(multiples, func(p *plot.Plot) *plot.Axis { return &p.Y })
	}
	rows := Rows(plots...)
	f.Height = height * vg.Length(len(rows))
	return NewFigure(f, rows...)
}

// addEndCurve adds a group's accuracy over the number of tasks that have ended, perhaps with its
// spread.
func addEndCurve(p *Plot, g repetitions, c curve, spread bool) {
	show := noSpread
	if spread {
		show = spreadFor(len(g.Runs), 1)
	}
	p.Add(c.drawn(g.Label, g.Style, show))
	p.X.Tick.Marker, p.X.Min, p.X.Max = Ticks{N: 6, Whole: true}, 0.8, max(p.X.Max, float64(len(c))+0.2)
}

// endCurve is the mean accuracy over the number of tasks that have ended.
func endCurve(runs []*results.Run) (c curve, err error) {
	at := make([][]float64, len(runs[0].Tasks)) // of each number of tasks
	for _, r := range runs {
		n := 0
		for _, p := range r.Curve {
			for range p.Ended {
				if n < len(at) {
					at[n] = append(at[n], 100*p.Mean)
				}
				n++
			}
		}
		if n != len(at) {
			return nil, fmt.Errorf("viz: run %s was evaluated at %d task ends; want one for each of %d tasks", r.ID, n, len(at))
		}
	}
	for i, values := range at {
		c.add(float64(i+1), values...)
	}
	return c, nil
}

// Profiles draws performance profiles (Dolan and Moré 2002, in the form of Agarwal et al. 2021):
// the share of a method's runs whose final accuracy A is above a threshold, for each data set and
// increment. It must show whether a method's runs are better throughout, or whether its mean hides
// runs that fail, where the line falls early.
func Profiles(runs ...*results.Run) (*Figure, error) {
	parts, err := compare(runs, (*results.Run).ParamText)
	if err != nil {
		return nil, err
	}
	var plots []*Plot
	data := Table{Head: []string{"setting", "method", "accuracy_percent", "share_above_percent", "runs"}}
	for _, part := range parts {
		p := NewPlot(part.title, "final accuracy A, %", "runs above, %")
		low, high := around(0.04, 0.5, finals(part.runs)...)
		for _, g := range part.groups {
			xys := profile(g.Runs, low, high)
			for _, at := range xys[1 : len(xys)-1] {
				data.Add(part.title, g.Label, at.X, at.Y, len(g.Runs))
			}
			g.Style.Marker = nil
			p.Add(&Curve{Label: g.Label, Style: g.Style, XY: staircase(xys)})
		}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, 0, 100
		plots = append(plots, p)
	}
	rows := Rows(plots...)
	return NewFigure(Figure{Name: "profiles", Data: data, Height: 220 * vg.Length(len(rows)),
		Alt: fmt.Sprintf("Share of runs above each final accuracy, in %s.", plural.Of(len(parts), "setting"))}, rows...)
}

// profile is the share of runs above each of their accuracies, from a threshold below all to one
// above all.
func profile(runs []*results.Run, low, high float64) plotter.XYs {
	sorted := slices.Sorted(slices.Values(finals(runs)))
	out := plotter.XYs{{X: low, Y: 100}}
	for i, a := range sorted {
		if i+1 < len(sorted) && sorted[i+1] == a {
			continue // the last of equal ones says how many are above
		}
		out = append(out, plotter.XY{X: a, Y: 100 * float64(len(sorted)-i-1) / float64(len(sorted))})
	}
	return append(out, plotter.XY{X: high, Y: 0})
}
