package viz

import (
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// AccuracyMatrix draws each task's test accuracy at each task's end, in percent, one panel per method: what
// each task reached at its own end, and what later tasks left of it. Tasks run from the top down, and ends
// from left to right in the order in which they happen. A frame marks a task's own end: to the right of it is
// forgetting or gain, to the left the task is still in training. Several runs of a method are averaged; all
// must have the same timeline.
func AccuracyMatrix(t *Theme, runs ...*results.Run) (*Figure, error) {
	groups, err := Groups(runs)
	if err != nil {
		return nil, err
	}
	if !sameTimeline(runs) {
		return nil, errors.New("viz: the runs' tasks end at different steps: draw one timeline at a time")
	}
	var plots []*plot.Plot
	data := Table{Head: []string{"method", "task", "after_end_of_task", "accuracy"}}
	for _, g := range groups {
		m, err := accuracyMatrix(t, g)
		if err != nil {
			return nil, err
		}
		p := t.newPlot("after the end of task", "task")
		p.Title.Text = g.Label
		m.addTo(p)
		for i, row := range m.cells {
			for j, v := range row {
				data.add(g.Label, m.rows[i], m.columns[j], v)
			}
		}
		plots = append(plots, p)
	}
	f := newFigure(t, 0, fmt.Sprintf("Accuracy of each task at each task's end, for %d methods.", len(groups)), panels(plots)...)
	f.Height = 220 * rowsOf(f)
	if len(plots) == 1 {
		f.Width, f.Height = wide*0.6, 260
	}
	f.key = []keyEntry{{label: "test accuracy, %"}, t.swatchKey("0", t.sequential(0)), t.swatchKey("100", t.sequential(1)),
		{label: "frame: the task's own end"}}
	return f.holding("accuracy-matrix", data), nil
}

func accuracyMatrix(t *Theme, g Group) (*matrix, error) {
	m := &matrix{theme: t, text: percent, color: func(v float64) color.NRGBA { return t.sequential(v) }}
	first := g.Runs[0]
	for i, task := range first.Tasks {
		m.rows = append(m.rows, fmt.Sprint(task.ID))
		m.cells = append(m.cells, nil)
		for column, p := range ends(first) {
			for _, id := range p.Ended {
				if id == task.ID {
					m.outline = append(m.outline, [2]int{i, column})
				}
			}
			accs := make([]float64, len(g.Runs))
			for k, r := range g.Runs {
				at := ends(r)
				if len(at) != len(ends(first)) {
					return nil, fmt.Errorf("viz: run %s was evaluated at %d task ends and run %s at %d", first.ID, len(ends(first)), r.ID, len(at))
				}
				accs[k] = math.NaN()
				if acc := at[column].Acc; i < len(acc) && acc[i] != nil {
					accs[k] = *acc[i]
				}
			}
			mean, _ := meanStd(accs)
			m.cells[i] = append(m.cells[i], mean)
		}
	}
	for _, p := range ends(first) {
		m.columns = append(m.columns, joined(p.Ended))
	}
	if len(m.columns) == 0 {
		return nil, fmt.Errorf("viz: run %s was not evaluated at task ends", first.ID)
	}
	return m, nil
}

// ends returns the evaluations at which tasks ended.
func ends(r *results.Run) []results.Point {
	var out []results.Point
	for _, p := range r.Curve {
		if len(p.Ended) > 0 {
			out = append(out, p)
		}
	}
	return out
}

func joined(ids []int) string {
	text := ""
	for i, id := range ids {
		if i > 0 {
			text += "+"
		}
		text += fmt.Sprint(id)
	}
	return text
}
