package viz

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// TaskAccuracy draws each task's test accuracy for each method: a thin stem from the accuracy at
// the task's own end to a marker at the accuracy at the end of the run. A stem that falls is
// forgetting. It must show which tasks each method learns and which it loses. Several runs of a
// method are shown by their mean, with a bar of ± one standard deviation.
func TaskAccuracy(runs ...*results.Run) (*Figure, error) {
	groups, err := grouped(runs)
	if err != nil {
		return nil, err
	}
	tasks := len(runs[0].Tasks)
	for _, r := range runs {
		if len(r.Tasks) != tasks {
			return nil, fmt.Errorf("viz: run %s has %d tasks and run %s has %d", runs[0].ID, tasks, r.ID, len(r.Tasks))
		}
	}
	p := NewBarePlot("", "task, by arrival", "test accuracy, %")
	p.Add(stripes(tasks), Grid())
	f := Figure{Name: "task-accuracy", Height: 260,
		Data: Table{Head: []string{"method", "task", "accuracy_at_own_end_percent", "accuracy_at_end_percent",
			"std_percent", "runs"}},
		Key: []KeyEntry{{Label: "bar: at the task's own end; marker: at the end of the run"}},
		Alt: fmt.Sprintf("Accuracy of %s at its own end and at the end of the run, for %s.", plural.Of(tasks, "task"),
			plural.Of(len(groups), "method"))}
	names := runs[0].TaskNames()
	for i, g := range groups {
		row := &dumbbells{label: g.Label, style: g.Style, shift: beside(i, len(groups)), tasks: names}
		for j, task := range runs[0].Tasks {
			b := dumbbellOf(g, j)
			row.all = append(row.all, b)
			f.Data.Add(g.Label, task.ID, b.own, b.final, b.std, len(g.Runs))
		}
		p.Add(row)
	}
	p.X.Min, p.X.Max = -0.5, float64(tasks)-0.5
	p.Y.Min, p.Y.Max = max(0, p.Y.Min-4), min(100, p.Y.Max+4)
	var ticks plot.ConstantTicks
	for i, name := range orNumbers(runs[0].Tasks, names, 520) {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	p.X.Tick.Marker, p.X.Tick.Length = ticks, 0
	return NewFigure(f, []*Plot{p})
}

// dumbbell is one method's accuracy of one task, in percent.
type dumbbell struct{ own, final, std float64 }

func dumbbellOf(g repetitions, task int) (b dumbbell) {
	b.own, _ = meanStd(each(g.Runs, func(r *results.Run) float64 { return 100 * r.Tasks[task].AccEnd }))
	b.final, b.std = meanStd(each(g.Runs, func(r *results.Run) float64 { return 100 * r.Tasks[task].AccFinal }))
	return b
}

// dumbbells are the marks of one method, one for each task.
type dumbbells struct {
	label string
	style Style
	shift float64 // from the middle of a task's place
	tasks []string
	all   []dumbbell
}

// Series explains the method; its values are told mark by mark.
func (d *dumbbells) Series() Series {
	line := draw.LineStyle{Color: d.style.Color, Width: 1}
	return Series{KeyEntry: KeyEntry{Label: d.label, Line: line, Glyph: d.style.GlyphStyle(2.8)}}
}

// DataRange makes room for the bars of the standard deviation.
func (d *dumbbells) DataRange() (xmin, xmax, ymin, ymax float64) {
	ymin, ymax = math.Inf(1), math.Inf(-1)
	for _, b := range d.all {
		ymin, ymax = min(ymin, b.own, b.final-b.std), max(ymax, b.own, b.final+b.std)
	}
	return 0, float64(len(d.all)), ymin, ymax
}

// Plot draws stems, bars and markers.
func (d *dumbbells) Plot(canvas draw.Canvas, p *plot.Plot) {
	c, thin := NewPen(canvas, p), lineStyle(d.style.Color, 1)
	for j, b := range d.all {
		at := float64(j) + d.shift
		c.Describe(d.label, fmt.Sprintf("%s: %.1f at its own end, %.1f ± %.1f at the end of the run", d.tasks[j], b.own,
			b.final, b.std))
		own, final := c.At(at, b.own), c.At(at, b.final)
		c.DrawSegment(thin, own, final)
		c.StrokeLine2(thin, own.X-vg.Points(3), own.Y, own.X+vg.Points(3), own.Y)
		if b.std > 0 {
			c.DrawSegment(lineStyle(ColorOf(d.style.Color).Alpha(90), 4), c.At(at, b.final-b.std), c.At(at, b.final+b.std))
		}
		c.DrawGlyphNoClip(d.style.GlyphStyle(3), final)
	}
}

// beside is where the method of a number stands, from the middle of its place on an axis of whole
// numbers.
func beside(i, n int) float64 { return (float64(i) - float64(n-1)/2) * 0.72 / float64(n) }

// stripes shade every second of n places on an axis of whole numbers.
func stripes(n int) Sketch {
	return func(c Pen) {
		for j := 1; j < n; j += 2 {
			left, right := c.X(float64(j)-0.5), c.X(float64(j)+0.5)
			c.FillRectangle(Faint.Alpha(110), vg.Point{X: left, Y: c.Min.Y}, vg.Point{X: right, Y: c.Max.Y})
		}
	}
}

// TaskCurves draws the test accuracy of each task of one run against the optimiser step: solid
// while the task's stream runs, and dashed after its end, when the task is represented only by its
// stored samples. The run need not have finished.
func TaskCurves(run *results.Run) (*Figure, error) {
	if len(run.Curve) == 0 {
		return nil, errors.New("viz: the run has no accuracy curve; evaluate at task ends at least")
	}
	p := NewPlot("", "optimiser step", "test accuracy of a task, %")
	p.LabelEnds()
	markArrivals(p, run)
	f := Figure{Name: "task-curves", Data: Table{Head: []string{"task", "step", "accuracy_percent"}},
		Alt: fmt.Sprintf("Test accuracy of %s against the optimiser step.", plural.Of(len(run.Tasks), "task"))}
	end := draw.GlyphStyle{Color: Muted, Radius: vg.Points(2.6), Shape: draw.CircleGlyph{}}
	var ended []plot.Plotter
	names := run.TaskNames()
	for i, task := range run.Tasks {
		name, style := names[i], Style{Color: TaskColor(i, len(run.Tasks))}
		trained, kept := taskCurve(run, i)
		for _, part := range []plotter.XYs{trained, kept} {
			if len(part) > 0 {
				p.Add(&Curve{Label: name, Style: style, XY: part})
				style.Dashes = []vg.Length{2.5, 2}
			}
		}
		if len(trained) > 0 && len(kept) > 0 {
			at := Dot{X: last(trained).X, Y: last(trained).Y, Glyph: end, Series: name}
			at.Glyph.Color = style.Color
			ended = append(ended, at)
		}
		for _, at := range run.Curve {
			if i < len(at.Acc) && at.Acc[i] != nil {
				f.Data.Add(task.ID, at.Step, 100**at.Acc[i])
			}
		}
	}
	p.Add(ended...)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, float64(last(run.Curve).Step+1), 0, 100
	if len(ended) > 0 {
		f.Key = []KeyEntry{{Label: "the stream ends", Glyph: end, Tight: true}}
	}
	return NewFigure(f, []*Plot{p})
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
		if len(trained) > 0 && len(kept) == 0 {
			kept = append(kept, *last(trained)) // no gap between the two
		}
		kept = append(kept, xy)
	}
	return trained, kept
}
