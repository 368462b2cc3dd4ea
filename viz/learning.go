package viz

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// LearningProcess draws the average accuracy over the tasks started so far after each task's end (the paper's
// Fig. 7), one line per method and one panel for each data set and increment. It must show how the order of
// the methods changes from task to task, and whether the differences are larger than those between runs. At
// each end the methods are drawn side by side, so that their bars, of one standard deviation over the runs,
// do not overlap. More than 100 bars in a panel would hide the lines: each method then has only the one at
// its last point. The axis counts task ends, so that runs of several timelines can be averaged; [Accuracy]
// draws the same against the step.
func LearningProcess(t *Theme, runs ...*results.Run) (*Figure, error) {
	parts, err := settings(runs)
	if err != nil {
		return nil, err
	}
	styles, key, err := t.compare(parts)
	if err != nil {
		return nil, err
	}
	var plots []*Plot
	data := Table{Head: []string{"setting", "method", "tasks_ended", "accuracy_percent", "std_percent", "runs"}}
	for _, part := range parts {
		p := t.panel(part.title, "tasks ended", "accuracy over started tasks, %")
		tasks, n := 0, len(part.groups)
		for _, r := range part.runs {
			tasks = max(tasks, len(r.Tasks))
		}
		p.stripes(tasks, 1)
		p.grid()
		for j, g := range part.groups {
			c, err := endCurve(g.Runs)
			if err != nil {
				return nil, err
			}
			for k := range c.steps {
				data.add(part.title, g.Label, c.steps[k], c.mean[k], c.std[k], len(g.Runs))
				c.steps[k] += beside(j, n)
			}
			p.curve(styles[g.look], c, spreadOfEnds(len(g.Runs), tasks*n))
		}
		p.X.Tick.Marker = wholeTicks{}
		p.X.Min, p.X.Max = 0.5, float64(tasks)+0.5
		plots = append(plots, p)
	}
	return t.figure(layout{name: "learning-process", data: data, row: 260, key: key,
		alt: fmt.Sprintf("Average accuracy over the started tasks at each task's end, in %d settings.", len(parts))}, inRows(plots)...)
}

// spreadOfEnds chooses how points that are means of so many runs show their spread, in a panel of so many points.
func spreadOfEnds(runs, points int) spread {
	switch {
	case runs < 2:
		return noSpread
	case points > 100:
		return lastWhisker
	}
	return whiskers
}

// beside is where the method of a number stands, from the middle of its place on an axis of whole numbers.
func beside(i, n int) float64 { return (float64(i) - float64(n-1)/2) * 0.72 / float64(n) }

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
