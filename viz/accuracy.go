package viz

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Accuracy draws the average test accuracy over the tasks started so far against the optimiser step (the paper's Fig. 7), a line
// for each method, and the level of guessing. It must show which method is ahead and when, what an arrival costs, and how certain
// the lead is: a band of one standard deviation over the runs or, with more than four methods, a bar of that height at each
// point.
func Accuracy(t *Theme, runs ...*results.Run) (*Figure, error) {
	groups, err := t.groups(runs)
	if err != nil {
		return nil, err
	}
	p := NewPlot(t, "", "optimiser step", "accuracy over started tasks, %")
	p.NameEnds()
	if sameTimeline(runs) {
		p.marks = arrivals(runs[0])
		p.named("guessing", t.line(t.Muted, 1, 1, 2), chanceLine(runs[0]))
	}
	data := Table{Head: []string{"method", "step", "accuracy_percent", "std_percent", "runs"}}
	for _, g := range groups {
		c := meanCurve(g.Runs)
		if len(c.steps) == 0 {
			return nil, fmt.Errorf("viz: the runs of %s have no steps at which all of them have an accuracy; evaluate at task ends at least", g.Label)
		}
		p.curve(g.Label, g.style, c, spreadFor(len(g.Runs), len(groups)))
		for i, mean := range c.mean {
			data.add(g.Label, int(c.steps[i]), mean, c.std[i], len(g.Runs))
		}
	}
	p.X.Min = 0
	for _, r := range runs {
		p.X.Max = max(p.X.Max, float64(lastStep(r)+1))
	}
	p.room(6, 0, 100)
	return t.figure(layout{name: "accuracy", data: data, height: 290,
		alt: fmt.Sprintf("Average accuracy over the started tasks against the optimiser step, for %d methods.", len(groups))}, []*Plot{p})
}

// arrivals marks the steps at which tasks begin.
func arrivals(run *results.Run) (marks []vertical) {
	for i, task := range run.Tasks {
		label := fmt.Sprint(task.ID)
		if i == 0 {
			label = "task 1"
		}
		marks = append(marks, vertical{x: float64(task.Start), label: label})
	}
	return marks
}

// chanceLine is the level of guessing over the steps.
func chanceLine(run *results.Run) (xys plotter.XYs) {
	for _, task := range run.Tasks {
		xys = append(xys, plotter.XY{X: float64(task.Start), Y: Chance(run, task.Start)})
	}
	return steps(append(xys, plotter.XY{X: float64(lastStep(run)), Y: xys[len(xys)-1].Y}))
}

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
	noSpread    spread = iota // of a single run
	bands                     // an area around the curve
	whiskers                  // a bar at each point
	lastWhisker               // a bar at the last point
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

// curve draws a curve with its spread, and with markers and bars as long as there are at most 40 points.
func (p *Plot) curve(label string, s Style, c curve, show spread) {
	xys, low, high := make(plotter.XYs, len(c.steps)), make(plotter.XYs, len(c.steps)), make(plotter.XYs, len(c.steps))
	for i, x := range c.steps {
		xys[i] = plotter.XY{X: x, Y: c.mean[i]}
		low[i] = plotter.XY{X: x, Y: c.mean[i] - c.std[i]}
		high[i] = plotter.XY{X: x, Y: c.mean[i] + c.std[i]}
	}
	n, few := len(xys)-1, len(xys) <= 40
	switch {
	case show == bands && n > 0:
		p.band(low, high, s)
	case show == lastWhisker:
		p.errorBars(s.Color, low[n:], high[n:])
	case show != noSpread && few:
		p.errorBars(s.Color, low, high)
	}
	p.named(label, s.line(1.6), xys)
	p.explain(keyEntry{label: label, glyph: s.glyph(2.8), end: xys[n]})
	if few {
		p.scatter(s.glyph(2.4), xys)
	}
}

// Chance returns the accuracy in percent of guessing after a step: the mean over the tasks
// started by then of one over the number of classes to choose from, which are the task's own
// ("task" increment) or those of all tasks started ("class" increment).
func Chance(run *results.Run, step int) float64 {
	seen := map[int]bool{}
	started, sum := 0, 0.0
	for _, t := range run.Tasks {
		if t.Start > step || len(t.Classes) == 0 {
			continue
		}
		started++
		sum += 1 / float64(len(t.Classes))
		for _, c := range t.Classes {
			seen[c] = true
		}
	}
	switch {
	case started == 0:
		return 0
	case run.Increment == "class":
		return 100 / float64(len(seen))
	}
	return 100 * sum / float64(started)
}
