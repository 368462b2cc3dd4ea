package viz

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Profiles draws performance profiles (E. Dolan and J. Moré 2002, in the form of R. Agarwal et al. 2021): the share of a
// method's runs whose final accuracy A is above a threshold, against the threshold. There is one line per method, and
// one panel for each data set and increment. It must show whether a method's runs are better throughout, its line being
// above the other's everywhere, or whether a mean hides runs that fail: a line that falls early.
func Profiles(t *Theme, runs ...*results.Run) (*Figure, error) {
	parts, err := settings(runs)
	if err != nil {
		return nil, err
	}
	styles, key, err := t.compare(parts)
	if err != nil {
		return nil, err
	}
	var plots []*Plot
	data := Table{Head: []string{"setting", "method", "accuracy_percent", "share_above_percent", "runs"}}
	for _, part := range parts {
		p := t.panel(part.title, "final accuracy A, %", "runs above, %")
		p.grid()
		low, high := rangeOfA(part.runs)
		for _, g := range part.groups {
			xys := profile(g.Runs, low, high)
			for _, at := range xys[1 : len(xys)-1] {
				data.add(part.title, g.Label, at.X, at.Y, len(g.Runs))
			}
			p.line(styles[g.look].line(1.6), steps(xys))
		}
		p.axes(low, high, 0, 100)
		plots = append(plots, p)
	}
	for i := range key {
		key[i].glyph.Shape = nil // the lines have no markers
	}
	return t.figure(layout{name: "profiles", data: data, row: 220, key: key,
		alt: fmt.Sprintf("Share of runs above each final accuracy, in %d settings.", len(parts))}, inRows(plots)...)
}

// steps keeps the height of each point until the place of the next.
func steps(xys plotter.XYs) (out plotter.XYs) {
	for i, xy := range xys {
		if i > 0 {
			out = append(out, plotter.XY{X: xy.X, Y: xys[i-1].Y})
		}
		out = append(out, xy)
	}
	return out
}

// rangeOfA goes a little beyond all final accuracies.
func rangeOfA(runs []*results.Run) (low, high float64) {
	low, high = runs[0].A, runs[0].A
	for _, r := range runs {
		low, high = min(low, r.A), max(high, r.A)
	}
	pad := max(0.5, 0.04*(high-low))
	return low - pad, high + pad
}

// profile is the share of runs above each of their accuracies, from a threshold below all to one above all.
func profile(runs []*results.Run, low, high float64) plotter.XYs {
	var sorted []float64
	for _, r := range runs {
		sorted = append(sorted, r.A)
	}
	slices.Sort(sorted)
	out := plotter.XYs{{X: low, Y: 100}}
	for i, a := range sorted {
		if i+1 < len(sorted) && sorted[i+1] == a {
			continue // the last of equal ones says how many are above
		}
		out = append(out, plotter.XY{X: a, Y: 100 * float64(len(sorted)-i-1) / float64(len(sorted))})
	}
	return append(out, plotter.XY{X: high, Y: 0})
}
