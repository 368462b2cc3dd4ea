package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// AccuracyMatrix draws each task's test accuracy, in percent, at the end of each task, in a plot
// for each method. It must show what each task reached at its own end (framed), and to the right of
// it what later tasks left of that. Tasks run from top to bottom, and task ends from left to right
// in order of time. Several runs of a method are averaged; all must have the same timeline.
func AccuracyMatrix(runs ...*results.Run) (*Figure, error) {
	groups, err := grouped(runs)
	if err != nil {
		return nil, err
	}
	if !results.OneTimeline(runs) {
		return nil, errors.New("viz: the runs' tasks end at different steps: draw one timeline at a time")
	}
	f := Figure{Name: "accuracy-matrix", Data: Table{Head: []string{"method", "task", "after_end_of_task", "accuracy"}},
		Key: []KeyEntry{{Label: "test accuracy, %"}, Swatch("0", Sequential(0)), Swatch("100", Sequential(1)),
			{Label: "frame: the task's own end"}},
		Alt: fmt.Sprintf("Accuracy of each task at each task's end, for %s.", plural.Of(len(groups), "method"))}
	var plots []*Plot
	for _, g := range groups {
		m, err := accuracyMatrix(g)
		if err != nil {
			return nil, err
		}
		p := NewBarePlot(g.Label, "after the end of task", "task")
		p.AddMatrix(m)
		for i, row := range m.Cells {
			for j, v := range row {
				f.Data.Add(g.Label, g.Runs[0].Tasks[i].ID, m.Columns[j], v)
			}
		}
		plots = append(plots, p)
	}
	height := vg.Length(220)
	if len(plots) == 1 {
		f.Width, height = DefaultWidth*0.6, 260
	}
	rows := Rows(plots...)
	f.Height = height * vg.Length(len(rows))
	return NewFigure(f, rows...)
}

func accuracyMatrix(g repetitions) (*Matrix, error) {
	m := &Matrix{Text: percent, Color: Sequential}
	at := make([][]results.Point, len(g.Runs))
	first := g.Runs[0]
	names := first.TaskNames()
	for k, r := range g.Runs {
		if at[k] = taskEnds(r); len(at[k]) != len(at[0]) {
			return nil, fmt.Errorf("viz: run %s was evaluated at %d task ends and run %s at %d", first.ID, len(at[0]), r.ID,
				len(at[k]))
		}
	}
	if len(at[0]) == 0 {
		return nil, fmt.Errorf("viz: run %s was not evaluated at task ends", first.ID)
	}
	for _, p := range at[0] {
		m.Columns = append(m.Columns, strings.ReplaceAll(strings.Trim(fmt.Sprint(p.Ended), "[]"), " ", "+"))
	}
	for i, task := range first.Tasks {
		m.Rows = append(m.Rows, numbered(names[i], task.ID))
		m.Cells = append(m.Cells, nil)
		for column, p := range at[0] {
			if slices.Contains(p.Ended, task.ID) {
				m.Framed = append(m.Framed, [2]int{i, column})
			}
			accs := make([]float64, len(g.Runs))
			for k := range g.Runs {
				accs[k] = math.NaN()
				if acc := at[k][column].Acc; i < len(acc) && acc[i] != nil {
					accs[k] = *acc[i]
				}
			}
			mean, _ := meanStd(accs)
			m.Cells[i] = append(m.Cells[i], mean)
		}
	}
	return m, nil
}

// taskEnds returns the evaluations at which tasks ended.
func taskEnds(r *results.Run) []results.Point {
	return slices.DeleteFunc(slices.Clone(r.Curve), func(p results.Point) bool { return len(p.Ended) == 0 })
}
