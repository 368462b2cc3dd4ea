package viz

import (
	"cmp"
	"errors"
	"fmt"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// TaskAccuracy draws each task's test accuracy for each method: a thin stem from the accuracy at the task's
// own end to a marker at the accuracy at the end of the run, so that a stem that falls is forgetting. It must
// show which tasks each method learns, which it loses, and which others they overlap with. Several runs of a
// method are shown by their mean and a bar of ± one standard deviation.
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
	p := panel("", "task, by arrival", "test accuracy, %")
	p.stripes(tasks)
	p.grid()
	f := Figure{Name: "task-accuracy", Height: 260,
		Data: Table{Head: []string{"method", "task", "accuracy_at_own_end_percent", "accuracy_at_end_percent", "std_percent", "runs"}},
		key:  []keyEntry{{label: "bar: at the task's own end; marker: at the end of the run"}},
		Alt:  fmt.Sprintf("Accuracy of each of %d tasks at its own end and at the end of the run, for %d methods.", tasks, len(groups))}
	names := make([]string, tasks)
	for i, g := range groups {
		for j, task := range runs[0].Tasks {
			b := dumbbellOf(g, j)
			names[j] = fmt.Sprint(task.ID)
			f.Data.add(g.Label, task.ID, b.own, b.final, b.std, len(g.Runs))
			p.dumbbell(g.Label, names[j], float64(j)+beside(i, len(groups)), b, g.Style)
		}
		p.explain(keyEntry{label: g.Label, line: lineStyle(g.Style.Color, 1), glyph: g.Style.glyph(2.8)})
	}
	p.X.Min, p.X.Max = -0.5, float64(tasks)-0.5
	p.room(4, 0, 100)
	p.X.Tick.Marker, p.X.Tick.Length = placeTicks(names), 0
	return figureOf(f, []*Plot{p})
}

// dumbbell is one method's accuracy of one task, in percent.
type dumbbell struct{ own, final, std float64 }

func dumbbellOf(g repetitions, task int) (b dumbbell) {
	b.own, _ = meanStd(each(g.Runs, func(r *results.Run) float64 { return 100 * r.Tasks[task].AccEnd }))
	b.final, b.std = meanStd(each(g.Runs, func(r *results.Run) float64 { return 100 * r.Tasks[task].AccFinal }))
	return b
}

func (p *Plot) dumbbell(label, task string, at float64, b dumbbell, s Style) {
	p.Y.Min, p.Y.Max = min(p.Y.Min, b.own, b.final-b.std), max(p.Y.Max, b.own, b.final+b.std)
	p.sketch(func(c pen) {
		c.say(label, "task %s: %.1f at its own end, %.1f ± %.1f at the end of the run", task, b.own, b.final, b.std)
		thin, own, final := lineStyle(s.Color, 1), c.at(at, b.own), c.at(at, b.final)
		c.stroke(thin, own, final)
		c.StrokeLine2(thin, own.X-vg.Points(3), own.Y, own.X+vg.Points(3), own.Y)
		if b.std > 0 {
			c.stroke(lineStyle(opaque(s.color(), 90), 4), c.at(at, b.final-b.std), c.at(at, b.final+b.std))
		}
		c.DrawGlyphNoClip(s.glyph(3), final)
	})
}

// beside is where the method of a number stands, from the middle of its place on an axis of whole numbers.
func beside(i, n int) float64 { return (float64(i) - float64(n-1)/2) * 0.72 / float64(n) }

// stripes shades every second of n places on an axis of whole numbers.
func (p *Plot) stripes(n int) {
	shade := opaque(rules, 110)
	p.sketch(func(c pen) {
		for j := 1; j < n; j += 2 {
			c.fill(shade, c.x(float64(j)-0.5), c.x(float64(j)+0.5), c.Min.Y, c.Max.Y)
		}
	})
}

// TaskCurves draws the test accuracy of each task of one run against the optimiser step, one line per task
// from its arrival on: solid while its stream runs, and dashed after its end, when only the memory still
// represents it. A run that has not finished may be drawn too.
func TaskCurves(run *results.Run) (*Figure, error) {
	if len(run.Curve) == 0 {
		return nil, errors.New("viz: the run has no accuracy curve; evaluate at task ends at least")
	}
	p := NewPlot("", "optimiser step", "test accuracy of a task, %")
	p.NameEnds()
	p.marks = arrivals(run)
	f := Figure{Name: "task-curves", Data: Table{Head: []string{"task", "step", "accuracy_percent"}},
		Alt: fmt.Sprintf("Test accuracy of each of %d tasks against the optimiser step.", len(run.Tasks))}
	end := draw.GlyphStyle{Color: muted, Radius: vg.Points(2.6), Shape: draw.CircleGlyph{}}
	var ended []dot
	for i, task := range run.Tasks {
		name, style := cmp.Or(task.Name, fmt.Sprint("task ", task.ID)), lineStyle(taskColor(i, len(run.Tasks)), 1.6)
		trained, kept := taskCurve(run, i)
		for _, part := range []plotter.XYs{trained, kept} {
			if len(part) > 0 {
				p.named(name, style, part)
				style.Dashes = variantDashes
			}
		}
		if len(trained) > 0 && len(kept) > 0 {
			at := dot{x: last(trained).X, y: last(trained).Y, glyph: end, name: name}
			at.glyph.Color = style.Color
			ended = append(ended, at)
		}
		for _, at := range run.Curve {
			if i < len(at.Acc) && at.Acc[i] != nil {
				f.Data.add(task.ID, at.Step, 100**at.Acc[i])
			}
		}
	}
	p.dots(ended...)
	p.axes(0, float64(last(run.Curve).Step+1), 0, 100)
	if len(ended) > 0 {
		f.key = []keyEntry{{label: "the stream ends", glyph: end, tight: true}}
	}
	return figureOf(f, []*Plot{p})
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
