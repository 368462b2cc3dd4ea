package viz

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// TaskCurves draws the test accuracy of each task of one run against the optimiser step, one line per task
// from its arrival on: solid while its stream runs, and dashed after its end, when only the memory still
// represents it. A run that has not finished may be drawn too.
func TaskCurves(t *Theme, run *results.Run) (*Figure, error) {
	if err := checkRun(run); err != nil {
		return nil, err
	}
	if len(run.Curve) == 0 {
		return nil, errors.New("viz: the run has no accuracy curve; evaluate at task ends at least")
	}
	p := t.newPlot("optimiser step", "test accuracy of a task, %")
	p.Add(t.horizontals(), arrivals(t, run))
	ends, data := &endLabels{theme: t}, Table{Head: []string{"task", "step", "accuracy_percent"}}
	for i := range run.Tasks {
		if err := addTaskCurve(t, p, ends, run, i, fmt.Sprint("task ", run.Tasks[i].ID)); err != nil {
			return nil, err
		}
		for _, at := range run.Curve {
			if i < len(at.Acc) && at.Acc[i] != nil {
				data.add(run.Tasks[i].ID, at.Step, 100**at.Acc[i])
			}
		}
	}
	p.Add(ends)
	p.X.Min, p.X.Max = 0, float64(run.Curve[len(run.Curve)-1].Step+1)
	p.Y.Min, p.Y.Max = 0, 100
	alt := fmt.Sprintf("Test accuracy of each of %d tasks against the optimiser step.", len(run.Tasks))
	return newFigure(t, 290, alt, []*plot.Plot{p}).holding("task-curves", data), nil
}

// addTaskCurve adds the line of task i in its two parts, and its name at the end.
func addTaskCurve(t *Theme, p *plot.Plot, ends *endLabels, run *results.Run, i int, label string) error {
	trained, kept := taskCurve(run, i)
	style := t.line(t.stream(i, max(len(run.Tasks), 3)), 1.6) // a third colour is kept for who comes next
	var last plotter.XY
	for _, part := range []plotter.XYs{trained, kept} {
		if len(part) == 0 {
			continue
		}
		line, err := plotter.NewLine(part)
		if err != nil {
			return err
		}
		line.LineStyle, last = style, part[len(part)-1]
		p.Add(line)
		style.Dashes = variantDashes
	}
	if len(trained)+len(kept) > 0 {
		ends.labels = append(ends.labels, endLabel{x: last.X, y: last.Y, text: label, line: style})
	}
	return nil
}

// taskCurve is the accuracy of task i in percent, until the end of its stream and from there on.
func taskCurve(run *results.Run, i int) (trained, kept plotter.XYs) {
	for _, point := range run.Curve {
		if i >= len(point.Acc) || point.Acc[i] == nil {
			continue
		}
		xy := plotter.XY{X: float64(point.Step), Y: 100 * *point.Acc[i]}
		if point.Step <= run.Tasks[i].End && len(kept) == 0 {
			trained = append(trained, xy)
			continue
		}
		if n := len(trained); n > 0 && len(kept) == 0 {
			kept = append(kept, trained[n-1]) // no gap between the two
		}
		kept = append(kept, xy)
	}
	return trained, kept
}
