package viz

import (
	"fmt"
	"math"

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
	p := t.panel("", "optimiser step", "accuracy over started tasks, %")
	p.grid()
	styles := t.stylesOf(groups)
	data := Table{Head: []string{"method", "step", "accuracy_percent", "std_percent", "runs"}}
	low, high := math.Inf(1), 0.0
	if sameTimeline(runs) {
		p.Add(arrivals(t, runs[0]))
		xys, style := chanceLine(runs[0]), t.line(t.Muted, 1, 1, 2)
		p.line(style, xys)
		last := xys[len(xys)-1]
		p.nameEnd(endLabel{x: last.X, y: last.Y, text: "guessing", line: style})
		low = last.Y
	}
	for _, g := range groups {
		c, s := meanCurve(g.Runs), styles[g.look]
		n := len(c.steps) - 1
		if n < 0 {
			return nil, fmt.Errorf("viz: the runs of %s have no steps at which all of them have an accuracy; evaluate at task ends at least", g.Label)
		}
		p.curve(s, c, spreadFor(len(g.Runs), len(groups)))
		p.nameEnd(endLabel{x: c.steps[n], y: c.mean[n], text: g.Label, line: s.line(1), glyph: s.glyph(2.6)})
		for i, mean := range c.mean {
			data.add(g.Label, int(c.steps[i]), mean, c.std[i], len(g.Runs))
			low, high = min(low, mean-c.std[i]), max(high, mean+c.std[i])
		}
	}
	end := p.X.Max
	for _, r := range runs {
		end = max(end, float64(lastStep(r)+1))
	}
	p.axes(0, end, max(0, low-6), min(100, high+6))
	return t.figure(layout{name: "accuracy", data: data, height: 290,
		alt: fmt.Sprintf("Average accuracy over the started tasks against the optimiser step, for %d methods.", len(groups))}, []*Plot{p})
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

// chanceLine is the level of guessing over the steps.
func chanceLine(run *results.Run) (xys plotter.XYs) {
	for i, task := range run.Tasks {
		x := float64(task.Start)
		if i > 0 {
			xys = append(xys, plotter.XY{X: x, Y: xys[len(xys)-1].Y})
		}
		xys = append(xys, plotter.XY{X: x, Y: Chance(run, task.Start)})
	}
	return append(xys, plotter.XY{X: float64(lastStep(run)), Y: xys[len(xys)-1].Y})
}
