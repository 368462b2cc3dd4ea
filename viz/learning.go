package viz

import (
	"fmt"

	"gonum.org/v1/plot"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// LearningProcess draws the average accuracy over the tasks started so far after each task's end
// (the paper's Fig. 7), one line a method with a band of one standard deviation over its runs, and
// one panel for each data set and increment. The axis counts task ends, so that runs of several
// timelines can be averaged; [Accuracy] draws the same against the step.
func LearningProcess(t *Theme, runs ...*results.Run) (*Figure, error) {
	parts, err := settings(runs)
	if err != nil {
		return nil, err
	}
	var plots []*plot.Plot
	var all []Group
	for _, part := range parts {
		groups, err := Groups(part.runs)
		if err != nil {
			return nil, err
		}
		p := t.newPlot("tasks ended", "accuracy over started tasks, %")
		p.Title.Text = part.title
		p.Add(t.horizontals())
		for _, g := range groups {
			c, err := endCurve(g.Runs)
			if err != nil {
				return nil, err
			}
			if err := addCurve(t, p, g, c); err != nil {
				return nil, err
			}
		}
		p.X.Tick.Marker = wholeTicks{}
		p.X.Min, p.X.Max = 0.9, float64(len(part.runs[0].Tasks))+0.1
		all = append(all, groups...)
		plots = append(plots, p)
	}
	f := newFigure(t, 0, fmt.Sprintf("Average accuracy over the started tasks at each task's end, in %d settings.", len(parts)), panels(plots)...)
	f.Height = 240 * rowsOf(f)
	f.key = keyOf(t, all)
	return f, nil
}

// endCurve is the mean accuracy over the number of tasks that have ended.
func endCurve(runs []*results.Run) (curve, error) {
	var values [][]float64
	for _, r := range runs {
		var ends []float64
		for _, p := range r.Curve {
			for range p.Ended {
				ends = append(ends, 100*p.Mean)
			}
		}
		if len(ends) != len(runs[0].Tasks) {
			return curve{}, fmt.Errorf("viz: run %s was evaluated at %d task ends; want one for each of %d tasks", r.ID, len(ends), len(runs[0].Tasks))
		}
		values = append(values, ends)
	}
	var c curve
	for i := range values[0] {
		var at []float64
		for _, v := range values {
			at = append(at, v[i])
		}
		mean, std := meanStd(at)
		c.add(float64(i+1), mean, std)
	}
	return c, nil
}
