package viz

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Timeline draws a run's streams over the optimiser steps: a bar for each task from its first
// to its last step, one for the memory from the first task's end on, and below them K(t), the
// number of streams whose gradients one step combines.
func Timeline(t *Theme, run *results.Run) (*Figure, error) {
	if err := checkRun(run); err != nil {
		return nil, err
	}
	end := float64(lastStep(run) + 1)
	bars := streamBars(t, run)
	top := t.newPlot("", "")
	bars.addTo(top)
	top.X.Min, top.X.Max = 0, end
	top.X.Tick.Marker = withoutLabels{top.X.Tick.Marker}

	count, err := countPlot(t, run)
	if err != nil {
		return nil, err
	}
	alt := fmt.Sprintf("Timeline of %d tasks over %d optimiser steps, with the memory stream and the number of simultaneous streams.",
		len(run.Tasks), int(end))
	height := vg.Length(min(60+16*(len(bars.rows)), 420)) + 90
	f := newFigure(t, height, alt, []*plot.Plot{top}, []*plot.Plot{count})
	f.Share = []float64{float64(height - 100), 100}
	return f, nil
}

// countPlot draws K(t) as steps.
func countPlot(t *Theme, run *results.Run) (*plot.Plot, error) {
	ks := streamCounts(run)
	var xys plotter.XYs
	most := 0
	for step, k := range ks {
		if step > 0 && ks[step-1] == k {
			continue
		}
		if step > 0 {
			xys = append(xys, plotter.XY{X: float64(step), Y: float64(ks[step-1])})
		}
		xys = append(xys, plotter.XY{X: float64(step), Y: float64(k)})
		most = max(most, k)
	}
	xys = append(xys, plotter.XY{X: float64(len(ks)), Y: float64(ks[len(ks)-1])})
	line, err := plotter.NewLine(xys)
	if err != nil {
		return nil, err
	}
	line.LineStyle = t.line(t.Ink, 1.2)
	line.FillColor = t.Grid
	p := t.newPlot("optimiser step", "streams K")
	p.Add(line)
	p.X.Min, p.X.Max = 0, float64(len(ks))
	p.Y.Min, p.Y.Max = 0, float64(most)+0.3
	p.Y.Tick.Marker = wholeTicks{}
	return p, nil
}

// streamCounts returns K at each step: the tasks in training, and the memory after the first end.
func streamCounts(run *results.Run) []int {
	ks := make([]int, lastStep(run)+1)
	first := lastStep(run)
	for _, t := range run.Tasks {
		first = min(first, t.End)
		for step := t.Start; step <= t.End; step++ {
			ks[step]++
		}
	}
	for step := first + 1; step < len(ks); step++ {
		ks[step]++
	}
	return ks
}

// streamBars gives each task a row, and the memory one from the first task's end on.
func streamBars(t *Theme, run *results.Run) *bars {
	b := &bars{theme: t}
	first := lastStep(run)
	for i, task := range run.Tasks {
		first = min(first, task.End)
		text := ""
		if n := len(task.Classes); n > 0 {
			text = fmt.Sprintf("%d classes", n)
		}
		b.rows = append(b.rows, fmt.Sprintf("task %d", task.ID))
		b.bars = append(b.bars, bar{row: i, text: text, start: float64(task.Start), end: float64(task.End + 1), color: t.stream(i, len(run.Tasks))})
	}
	if start, end := float64(first+1), float64(lastStep(run)+1); start < end {
		b.rows = append(b.rows, "memory")
		b.bars = append(b.bars, bar{row: len(run.Tasks), text: "rehearsal", start: start, end: end, color: t.Muted})
	}
	return b
}
