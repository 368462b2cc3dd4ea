package viz

import (
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// curve is the mean over runs of the accuracy over time, or another quantity, in percent.
type curve struct {
	steps     []float64
	mean, std []float64
}

func (c *curve) add(step, mean, std float64) {
	c.steps = append(c.steps, step)
	c.mean = append(c.mean, mean)
	c.std = append(c.std, std)
}

// meanCurve takes the runs' curves on all their steps together, from where the last of them
// begins to where the first of them ends; between two evaluations a run's curve is linear.
func meanCurve(runs []*results.Run) (c curve) {
	var all []float64
	first, last := math.Inf(-1), math.Inf(1)
	lines := make([]func(float64) float64, len(runs))
	for i, r := range runs {
		if len(r.Curve) == 0 {
			return curve{}
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
		mean, std := meanStd(accs)
		c.add(step, mean, std)
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

// spreadFor chooses, for points that are means of so many runs, bands as long as the lines can be told apart.
func spreadFor(runs, lines int) spread {
	switch {
	case runs < 2:
		return noSpread
	case lines > 4:
		return whiskers
	}
	return bands
}

// around are the points of a curve, and those below and above them.
func (c *curve) around() (xys, low, high plotter.XYs) {
	for i, x := range c.steps {
		xys = append(xys, plotter.XY{X: x, Y: c.mean[i]})
		low = append(low, plotter.XY{X: x, Y: c.mean[i] - c.std[i]})
		high = append(high, plotter.XY{X: x, Y: c.mean[i] + c.std[i]})
	}
	return xys, low, high
}

// curve draws a curve over its band or bars, and with markers and bars as long as there are at most 40 points.
func (p *Plot) curve(label string, s Style, c curve, show spread) {
	xys, low, high := c.around()
	few := len(xys) <= 40
	at := valuesOf(xys)
	for i := range at {
		if show != noSpread {
			at[i] = append(at[i], low[i].Y, high[i].Y)
		}
	}
	p.series(label, at, func() {
		switch {
		case show == bands && len(xys) > 1:
			p.band(low, high, s)
		case show != noSpread && few:
			p.errorBars(s.Color, low, high)
		}
		p.line("", s.line(1.6), xys)
		if few {
			p.scatter("", s.glyph(2.4), xys)
		}
	})
	p.explain(keyEntry{label: label, line: s.line(1.6), glyph: s.glyph(2.8), end: xys[len(xys)-1]})
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
