package viz

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/toy"
)

// ToyDescent draws the two synthetic functions of the paper's Fig. 2 as level lines, with the path that each
// method takes down them. It must show which methods climb on the old task's function. The left half begins
// at the start, the right half at the step in which the second task arrives, where the methods separate.
func ToyDescent(traces ...*toy.Trace) (*Figure, error) {
	d := descentsOf(traces)
	f := d.figure("toy-descent", fmt.Sprintf("Level lines of the two toy functions with the paths of %d methods.", len(traces)))
	return figureOf(f, []*Plot{d.paths("the whole descent", 0), d.paths("after task 2 has arrived", d.arrival)})
}

// ToyPaths is the right half of [ToyDescent] alone.
func ToyPaths(traces ...*toy.Trace) (*Figure, error) {
	d := descentsOf(traces)
	return figureOf(d.figure("toy-paths", "Paths of the methods on the two toy functions after the second task has arrived."),
		[]*Plot{d.paths("", d.arrival)})
}

// ToyLosses draws both toy functions along each method's descent. It must show which methods let the old task's loss rise when
// the new one arrives, and how fast each lowers the new task's. The vertical axes begin shortly before the arrival, where the
// methods separate.
func ToyLosses(traces ...*toy.Trace) (*Figure, error) {
	d := descentsOf(traces)
	f := d.figure("toy-losses", fmt.Sprintf("Both toy functions over the steps of %d methods; the second task arrives at step %d.", len(traces), d.arrival))
	f.Height, f.key = 270, nil
	return figureOf(f, []*Plot{
		d.losses("f₁ (old task)", func(p toy.Point) float64 { return p.F1 }),
		d.losses("f₂ (new task)", func(p toy.Point) float64 { return p.F2 }),
	})
}

// descents are traces that can be compared.
type descents struct {
	labels  []string
	styles  []Style // traces of one method, with other parameters, are variants of it
	points  [][]toy.Point
	arrival int // of the second task
}

// descentsOf panics at traces that cannot be compared.
func descentsOf(traces []*toy.Trace) *descents {
	if len(traces) == 0 {
		panic("viz: no toy traces to draw")
	}
	d, methods := &descents{arrival: traces[0].Settings.Arrival}, []string{}
	for _, t := range traces {
		if at := t.Settings.Arrival; at != d.arrival || at >= len(t.Steps) {
			panic(fmt.Sprintf("viz: toy trace %q: task 2 arrives at step %d of %d; want one step for all traces, before the last", t.Method, at, len(t.Steps)))
		}
		var points []toy.Point
		for _, s := range t.Steps {
			points = append(points, s.Point)
		}
		d.points = append(d.points, append(points, t.End))
		methods, d.labels = append(methods, t.Method), append(d.labels, cmp.Or(t.Label, t.Method))
	}
	d.styles = stylesOf(methods)
	return d
}

// figure has both functions along each path as its data.
func (d *descents) figure(name, alt string) Figure {
	f := Figure{Name: name, Alt: alt, Height: 300, Data: Table{Head: []string{"method", "step", "x", "y", "f1", "f2"}}}
	for k, points := range d.points {
		f.key = append(f.key, keyEntry{label: d.labels[k], line: d.styles[k].line(1.6), glyph: d.styles[k].glyph(2.8)})
		for i, p := range points {
			if i%10 == 0 || i == len(points)-1 {
				f.Data.add(d.labels[k], i, p.X, p.Y, p.F1, p.F2)
			}
		}
	}
	f.key = append(f.key,
		keyEntry{label: "level lines of f₁", line: lineStyle(contourColors[0], 1)},
		keyEntry{label: "of f₂", line: lineStyle(contourColors[1], 1, 4, 2)})
	return f
}

// paths draws the paths from step first on, over the level lines around them.
func (d *descents) paths(title string, first int) *Plot {
	p := panel(title, "x", "y")
	p.names = elsewhere
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks{n: 5}, roundTicks{n: 5}
	var shown []toy.Point
	for _, points := range d.points {
		shown = append(shown, points[first:]...)
	}
	var box [4]float64 // xmin, xmax, ymin, ymax
	box[0], box[1] = around(0.14, 1e-4, each(shown, func(p toy.Point) float64 { return p.X })...)
	box[2], box[3] = around(0.14, 1e-4, each(shown, func(p toy.Point) float64 { return p.Y })...)
	p.Add(levels{func(x, y float64) float64 { return toy.At(x, y).F1 }, box, lineStyle(contourColors[0], 0.7)},
		levels{func(x, y float64) float64 { return toy.At(x, y).F2 }, box, lineStyle(contourColors[1], 0.7, 4, 2)})
	var marks []dot
	for _, k := range d.longestFirst(first) {
		xys := places(d.points[k][first:])
		p.line(d.labels[k], d.styles[k].line(1.8), xys)
		marks = append(marks, dot{x: last(xys).X, y: last(xys).Y, glyph: d.styles[k].glyph(4)})
	}
	points, ring := d.points[0], draw.GlyphStyle{Color: ink, Radius: vg.Points(4), Shape: draw.RingGlyph{}}
	if first == 0 {
		marks = append(marks, dot{x: points[0].X, y: points[0].Y, glyph: ring, text: "start"})
	}
	p.dots(append(marks, dot{x: points[d.arrival].X, y: points[d.arrival].Y, glyph: ring, text: "task 2 arrives"})...)
	p.axes(box[0], box[1], box[2], box[3])
	return p
}

// longestFirst orders traces such that a short path over a longer one stays visible.
func (d *descents) longestFirst(first int) (sorted []int) {
	length := make([]float64, len(d.points))
	for k, points := range d.points {
		for i := first + 1; i < len(points); i++ {
			length[k] += math.Hypot(points[i].X-points[i-1].X, points[i].Y-points[i-1].Y)
		}
		sorted = append(sorted, k)
	}
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(length[b], length[a]) })
	return sorted
}

// places are those of points.
func places(points []toy.Point) (xys plotter.XYs) {
	for _, p := range points {
		xys = append(xys, plotter.XY{X: p.X, Y: p.Y})
	}
	return xys
}

func (d *descents) losses(label string, value func(toy.Point) float64) *Plot {
	p := NewPlot("", "step", label)
	p.NameEnds()
	p.Mark(float64(d.arrival), "task 2 arrives")
	p.X.Tick.Marker = roundTicks{n: 4}
	var late []float64 // values from shortly before the arrival on
	for k, points := range d.points {
		var xys plotter.XYs
		for step, at := range points {
			if step >= d.arrival*3/4 {
				late = append(late, value(at))
			}
			xys = append(xys, plotter.XY{X: float64(step), Y: value(at)})
		}
		p.named(d.labels[k], d.styles[k].line(1.6), xys)
		p.explain(keyEntry{label: d.labels[k], glyph: d.styles[k].glyph(2.8), end: last(xys)})
	}
	low, high := slices.Min(late), slices.Max(late)
	margin := 0.08 * (high - low)
	p.axes(0, p.X.Max, low-margin, high+2*margin)
	return p
}
