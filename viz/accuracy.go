package viz

import (
	"fmt"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// Accuracy draws the average test accuracy over the tasks started so far against the optimiser step
// (the paper's Fig. 7): a line for each method, and the accuracy of guessing. It must show which
// method leads and when, what an arrival costs, and how certain the lead is. The spread is one
// standard deviation over the runs, drawn as a band, or as bars if there are more than four
// methods.
func Accuracy(runs ...*results.Run) (*Figure, error) {
	groups, err := grouped(runs)
	if err != nil {
		return nil, err
	}
	f := Figure{Name: "accuracy", Data: Table{Head: []string{"method", "step", "accuracy_percent", "std_percent", "runs"}},
		Alt: fmt.Sprintf("Average accuracy over the started tasks against the optimiser step, for %s.",
			plural.Of(len(groups), "method"))}
	p := NewPlot("", "optimiser step", "accuracy over started tasks, %")
	p.LabelEnds()
	if results.OneTimeline(runs) {
		markArrivals(p, runs[0])
		guess := Style{Color: Muted, Width: 1, Dashes: []vg.Length{1, 2}}
		p.Add(&Curve{Label: "guessing", Style: guess, XY: chanceLine(runs[0])})
	}
	for _, g := range groups {
		c := meanCurve(g.Runs)
		if len(c) == 0 {
			return nil,
				fmt.Errorf(
					"viz: the runs of %s have no steps at which all of them have an accuracy; evaluate at task ends at least", g.Label)
		}
		p.Add(c.drawn(g.Label, g.Style, spreadFor(len(g.Runs), len(groups))))
		addCurve(&f.Data, c, g.Label)
	}
	if text := spreadNames[spreadFor(len(groups[0].Runs), len(groups))]; text != "" {
		f.Key = []KeyEntry{{Label: text}}
	}
	p.X.Min = 0
	for _, r := range runs {
		p.X.Max = max(p.X.Max, float64(r.Span()))
	}
	p.Y.Min, p.Y.Max = max(0, p.Y.Min-6), min(100, p.Y.Max+6)
	return NewFigure(f, []*Plot{p})
}

// spreadNames explain a [spread].
var spreadNames = [...]string{bands: "band: ± one standard deviation over the runs",
	whiskers: "bars: ± one standard deviation over the runs"}

// markArrivals marks the steps at which tasks begin.
func markArrivals(p *Plot, run *results.Run) {
	names := namesBetween(run)
	for i, task := range run.Tasks {
		label := fmt.Sprint(task.ID)
		switch {
		case names != nil:
			label = names[i]
		case i == 0:
			label = "task 1"
		}
		p.Mark(float64(task.Start), label)
	}
}

// chanceLine is the level of guessing over the steps.
func chanceLine(run *results.Run) (xys plotter.XYs) {
	for _, task := range run.Tasks {
		xys = append(xys, plotter.XY{X: float64(task.Start), Y: chance(run, task.Start)})
	}
	return staircase(append(xys, plotter.XY{X: float64(run.Span() - 1), Y: last(xys).Y}))
}

// chance is the accuracy in percent of guessing after a step: the mean over the tasks
// started by then of one over the number of classes to choose from, which are the task's own
// ("task" increment) or those of all tasks started ("class" increment).
func chance(run *results.Run, step int) float64 {
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
