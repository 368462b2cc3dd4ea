package viz

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Accuracy draws the average test accuracy over the tasks started so far against the optimiser step (the
// paper's Fig. 7), one line per method, and the level of guessing. It must show which method is ahead and
// when, what an arrival costs, and how certain the lead is. Several runs of a method are shown by their mean
// and a band of one standard deviation or, with more than four methods, whose bands would hide each other, a
// bar of that height at each point.
func Accuracy(t *Theme, runs ...*results.Run) (*Figure, error) {
	groups, err := Groups(runs)
	if err != nil {
		return nil, err
	}
	p := t.newPlot("optimiser step", "accuracy over started tasks, %")
	p.Add(t.horizontals())
	ends := &endLabels{theme: t}
	styles := t.stylesOf(groups)
	data := Table{Head: []string{"method", "step", "accuracy_percent", "std_percent", "runs"}}
	low, high := math.Inf(1), 0.0
	if sameTimeline(runs) {
		p.Add(arrivals(t, runs[0]))
		line, err := chanceLine(t, runs[0])
		if err != nil {
			return nil, err
		}
		p.Add(line)
		last := line.XYs[len(line.XYs)-1]
		ends.labels = append(ends.labels, endLabel{x: last.X, y: last.Y, text: "guessing", line: line.LineStyle})
		low = last.Y
	}
	for _, g := range groups {
		c := meanCurve(g.Runs)
		if len(c.steps) == 0 {
			return nil, fmt.Errorf("viz: the runs of %s have no steps at which all of them have an accuracy; evaluate at task ends at least", g.Label)
		}
		if err := addCurve(t, p, styles[g.look], c, spreadOf(g, groups)); err != nil {
			return nil, err
		}
		for i := range c.steps {
			data.add(g.Label, int(c.steps[i]), c.mean[i], c.std[i], len(g.Runs))
		}
		s, n := styles[g.look], len(c.steps)-1
		ends.labels = append(ends.labels, endLabel{x: c.steps[n], y: c.mean[n], text: g.Label, line: s.line(1), glyph: s.glyph(2.6)})
		for i := range c.mean {
			low, high = math.Min(low, c.mean[i]-c.std[i]), math.Max(high, c.mean[i]+c.std[i])
		}
	}
	p.Add(ends)
	p.X.Min = 0
	for _, r := range runs {
		p.X.Max = math.Max(p.X.Max, float64(lastStep(r)+1))
	}
	p.Y.Min, p.Y.Max = math.Max(0, low-6), math.Min(100, high+6)
	alt := fmt.Sprintf("Average accuracy over the started tasks against the optimiser step, for %d methods.", len(groups))
	return newFigure(t, 290, alt, []*plot.Plot{p}).holding("accuracy", data), nil
}

// spread is how a curve shows the standard deviation over its runs.
type spread int

const (
	noSpread    spread = iota // of a single run
	bands                     // an area around the curve
	whiskers                  // a bar at each point
	lastWhisker               // a bar at the last point
)

// spreadOf is spreadFor a group of several.
func spreadOf(g Group, all []Group) spread { return spreadFor(len(g.Runs), len(all)) }

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

func addCurve(t *Theme, p *plot.Plot, s Style, c curve, show spread) error {
	xys := make(plotter.XYs, len(c.steps))
	low, high := make(plotter.XYs, len(c.steps)), make(plotter.XYs, len(c.steps))
	for i, x := range c.steps {
		xys[i] = plotter.XY{X: x, Y: c.mean[i]}
		low[i] = plotter.XY{X: x, Y: c.mean[i] - c.std[i]}
		high[i] = plotter.XY{X: x, Y: c.mean[i] + c.std[i]}
	}
	switch {
	case show == bands && len(xys) > 1:
		band, err := t.band(low, high, s)
		if err != nil {
			return err
		}
		p.Add(band)
	case show == lastWhisker:
		n := len(xys) - 1
		p.Add(&errorBars{s.Color, low[n:], high[n:]})
	case show != noSpread && len(xys) <= 40:
		p.Add(&errorBars{s.Color, low, high})
	}
	line, points, err := plotter.NewLinePoints(xys)
	if err != nil {
		return err
	}
	line.LineStyle = s.line(1.6)
	points.GlyphStyle = s.glyph(2.4)
	p.Add(line)
	if len(xys) <= 40 {
		p.Add(points)
	}
	return nil
}

// arrivals marks the steps at which tasks begin.
func arrivals(t *Theme, run *results.Run) *verticals {
	v := &verticals{theme: t}
	for i, task := range run.Tasks {
		label := fmt.Sprint(task.ID)
		if i == 0 {
			label = "task 1"
		}
		v.marks = append(v.marks, vertical{x: float64(task.Start), label: label})
	}
	return v
}

func chanceLine(t *Theme, run *results.Run) (*plotter.Line, error) {
	var xys plotter.XYs
	end := lastStep(run)
	for _, task := range run.Tasks {
		level := Chance(run, task.Start)
		if n := len(xys); n > 0 {
			xys = append(xys, plotter.XY{X: float64(task.Start), Y: xys[n-1].Y})
		}
		xys = append(xys, plotter.XY{X: float64(task.Start), Y: level})
	}
	xys = append(xys, plotter.XY{X: float64(end), Y: xys[len(xys)-1].Y})
	line, err := plotter.NewLine(xys)
	if err != nil {
		return nil, err
	}
	line.LineStyle = t.line(t.Muted, 1, 1, 2)
	return line, nil
}
