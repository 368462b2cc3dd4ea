package viz

import (
	"errors"
	"fmt"

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
	p := t.panel("", "optimiser step", "test accuracy of a task, %")
	p.grid()
	p.Add(arrivals(t, run))
	data := Table{Head: []string{"task", "step", "accuracy_percent"}}
	for i, task := range run.Tasks {
		style := t.line(t.Stream(i, max(len(run.Tasks), 3)), 1.6) // a third colour is kept for who comes next
		var last plotter.XY
		trained, kept := taskCurve(run, i)
		for _, part := range []plotter.XYs{trained, kept} {
			if len(part) > 0 {
				p.line(style, part)
				last, style.Dashes = part[len(part)-1], variantDashes
			}
		}
		if len(trained)+len(kept) > 0 {
			p.nameEnd(endLabel{x: last.X, y: last.Y, text: fmt.Sprint("task ", task.ID), line: style})
		}
		for _, at := range run.Curve {
			if i < len(at.Acc) && at.Acc[i] != nil {
				data.add(task.ID, at.Step, 100**at.Acc[i])
			}
		}
	}
	p.axes(0, float64(run.Curve[len(run.Curve)-1].Step+1), 0, 100)
	return t.figure(layout{name: "task-curves", data: data, height: 290,
		alt: fmt.Sprintf("Test accuracy of each of %d tasks against the optimiser step.", len(run.Tasks))}, []*Plot{p})
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
