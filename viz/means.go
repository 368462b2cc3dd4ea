package viz

import (
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// curve is the mean over runs of the accuracy over time, or another quantity, in percent.
type curve []spot

// spot is the mean of some values at a place.
type spot struct {
	x, mean, std float64
	values       int
}

func (c *curve) add(x float64, values ...float64) {
	mean, std := meanStd(values)
	*c = append(*c, spot{x, mean, std, len(values)})
}

// means are the points of the curve.
func (c curve) means() (xys plotter.XYs) {
	for _, at := range c {
		xys = append(xys, plotter.XY{X: at.x, Y: at.mean})
	}
	return xys
}

// drawn returns a plotter of the curve.
func (c curve) drawn(label string, s Style, show spread) *Curve {
	out := &Curve{Label: label, Style: s, XY: c.means(), Bars: show == whiskers}
	if show != noSpread {
		out.Std = each(c, func(at spot) float64 { return at.std })
	}
	return out
}

// addCurve adds a row for each spot of a curve over whole numbers, which begins with some cells.
func addCurve(t *Table, c curve, first ...any) {
	for _, at := range c {
		t.Add(append(slices.Clone(first), int(at.x), at.mean, at.std, at.values)...)
	}
}

// meanCurve takes the runs' curves on all their steps together, from where the last of them
// begins to where the first of them ends; between two evaluations a run's curve is linear.
func meanCurve(runs []*results.Run) (c curve) {
	var all []float64
	first, last := math.Inf(-1), math.Inf(1)
	lines := make([]func(float64) float64, len(runs))
	for i, r := range runs {
		if len(r.Curve) == 0 {
			return nil
		}
		x, y := make([]float64, len(r.Curve)), make([]float64, len(r.Curve))
		for k, p := range r.Curve {
			x[k], y[k] = float64(p.Step), p.Mean
		}
		all = append(all, x...)
		first, last = max(first, x[0]), min(last, x[len(x)-1])
		lines[i] = linear(x, y)
	}
	slices.Sort(all)
	for _, step := range slices.Compact(all) {
		if step < first || step > last {
			continue
		}
		accs := make([]float64, len(runs))
		for i, at := range lines {
			accs[i] = 100 * at(step)
		}
		c.add(step, accs...)
	}
	return c
}

// linear goes through points, within their range.
func linear(x, y []float64) func(float64) float64 {
	return func(at float64) float64 {
		i, found := slices.BinarySearch(x, at)
		if found {
			return y[i]
		}
		share := (at - x[i-1]) / (x[i] - x[i-1])
		return y[i-1]*(1-share) + y[i]*share
	}
}

// spread is how a curve shows the standard deviation over its runs.
type spread int

const (
	noSpread spread = iota // of a single run
	bands                  // an area around the curve
	whiskers               // a bar at each point
)

// spreadFor chooses, for points that are means of so many runs, bands as long as the lines can be
// told apart.
func spreadFor(runs, lines int) spread {
	switch {
	case runs < 2:
		return noSpread
	case lines > 4:
		return whiskers
	}
	return bands
}

// staircase keeps the height of each point until the place of the next.
func staircase(xys plotter.XYs) (out plotter.XYs) {
	for i, xy := range xys {
		if i > 0 {
			out = append(out, plotter.XY{X: xy.X, Y: xys[i-1].Y})
		}
		out = append(out, xy)
	}
	return out
}
