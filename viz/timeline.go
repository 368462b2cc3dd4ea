package viz

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

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
	top.Add(bars)
	top.X.Min, top.X.Max = 0, end
	top.Y.Min, top.Y.Max = -0.5, float64(len(bars.bars))-0.5
	top.Y.Tick.Marker = plot.ConstantTicks(bars.ticks())
	top.Y.Tick.Length, top.Y.LineStyle.Width = 0, 0
	top.X.Tick.Marker = withoutLabels{top.X.Tick.Marker}

	count, err := countPlot(t, run)
	if err != nil {
		return nil, err
	}
	alt := fmt.Sprintf("Timeline of %d tasks over %d optimiser steps, with the memory stream and the number of simultaneous streams.",
		len(run.Tasks), int(end))
	height := vg.Length(min(60+16*(len(bars.bars)), 420)) + 90
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

// bars draws one horizontal bar a row, from the top.
type streams struct {
	theme *Theme
	bars  []bar
}

type bar struct {
	name, text string
	start, end float64
	style      draw.LineStyle // its colour fills the bar
}

func streamBars(t *Theme, run *results.Run) *streams {
	s := &streams{theme: t}
	first := lastStep(run)
	for i, task := range run.Tasks {
		first = min(first, task.End)
		text := ""
		if n := len(task.Classes); n > 0 {
			text = fmt.Sprintf("%d classes", n)
		}
		s.bars = append(s.bars, bar{
			name: fmt.Sprintf("task %d", task.ID), text: text,
			start: float64(task.Start), end: float64(task.End + 1),
			style: draw.LineStyle{Color: t.stream(i, len(run.Tasks))},
		})
	}
	if start, end := float64(first+1), float64(lastStep(run)+1); start < end {
		s.bars = append(s.bars, bar{name: "memory", text: "rehearsal", start: start, end: end,
			style: draw.LineStyle{Color: t.Muted}})
	}
	return s
}

func (s *streams) row(i int) float64 { return float64(len(s.bars) - 1 - i) }

func (s *streams) ticks() []plot.Tick {
	var ticks []plot.Tick
	for i, b := range s.bars {
		ticks = append(ticks, plot.Tick{Value: s.row(i), Label: b.name})
	}
	return ticks
}

func (s *streams) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	for i, b := range s.bars {
		low, high := trY(s.row(i)-0.38), trY(s.row(i)+0.38)
		left, right := trX(b.start), trX(b.end)
		c.FillPolygon(b.style.Color, []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
		s.label(c, b, left, right, (low+high)/2, high-low)
	}
}

// label writes into the bar where the text fits, else beside it.
func (s *streams) label(c draw.Canvas, b bar, left, right, y, height vg.Length) {
	sty := s.theme.text(readableOn(b.style.Color), tickSize-1)
	if height < sty.FontExtents().Height {
		return
	}
	width := sty.Width(b.text)
	x := left + vg.Points(4)
	if right-left < width+vg.Points(8) {
		sty.Color = s.theme.Ink
		if x = right + vg.Points(4); x+width > c.Max.X {
			x = left - vg.Points(4) - width
		}
	}
	c.FillText(sty, vg.Point{X: x, Y: y + lift}, b.text)
}
