package viz

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/toy"
)

// ToyDescent draws the two synthetic functions of the paper's Fig. 2 as level lines, and the path
// of each method over them. It must show which methods climb on the old task's function. The left
// plot has the whole descent; the right one begins when the second task arrives, where the methods
// separate.
func ToyDescent(traces ...*toy.Trace) (*Figure, error) {
	d := descentsOf(traces)
	f := d.figure("toy-descent", fmt.Sprintf("Level lines of the two toy functions with the paths of %s.",
		plural.Of(len(traces), "method")))
	return NewFigure(f, []*Plot{d.paths("the whole descent", 0), d.paths("after task 2 has arrived", d.arrival)})
}

// ToyPaths draws the right plot of [ToyDescent] alone.
func ToyPaths(traces ...*toy.Trace) (*Figure, error) {
	d := descentsOf(traces)
	return NewFigure(d.figure("toy-paths",
		"Paths of the methods on the two toy functions after the second task has arrived."),
		[]*Plot{d.paths("", d.arrival)})
}

// ToyLosses draws both toy functions along each method's descent. It must show which methods let
// the old task's loss rise when the new task arrives, and how fast each lowers the loss of the new
// one. The vertical axes cover the steps from shortly before the arrival.
func ToyLosses(traces ...*toy.Trace) (*Figure, error) {
	d := descentsOf(traces)
	f := d.figure("toy-losses", fmt.Sprintf("Both toy functions over the steps of %s; the second task arrives at step %d.",
		plural.Of(len(traces), "method"), d.arrival))
	f.Height, f.Key = 270, nil
	return NewFigure(f, []*Plot{
		d.losses("f₁ (old task)", func(p toy.Point) float64 { return p.F1 }),
		d.losses("f₂ (new task)", func(p toy.Point) float64 { return p.F2 }),
	})
}

// contourColors are the colours of the level lines of f₁ and f₂.
var contourColors = [2]Color{LightDark(0xaab4bd, 0x58626d), LightDark(0xc7b79c, 0x75684f)}

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
			panic(fmt.Sprintf("viz: toy trace %q: task 2 arrives at step %d of %d; want one step for all traces, before the "+
				"last", t.Method, at, len(t.Steps)))
		}
		var points []toy.Point
		for _, s := range t.Steps {
			points = append(points, s.Point)
		}
		d.points = append(d.points, append(points, t.End))
		methods, d.labels = append(methods, t.Method), append(d.labels, cmp.Or(t.Label, t.Method))
	}
	d.styles = Styles(methods)
	return d
}

// figure has both functions along each path as its data.
func (d *descents) figure(name, alt string) Figure {
	f := Figure{Name: name, Alt: alt, Height: 300, Data: Table{Head: []string{"method", "step", "x", "y", "f1", "f2"}}}
	for k, points := range d.points {
		f.Key = append(f.Key, KeyEntry{Label: d.labels[k], Line: d.styles[k].LineStyle(), Glyph: d.styles[k].GlyphStyle(2.8)})
		for i, p := range points {
			if i%10 == 0 || i == len(points)-1 {
				f.Data.Add(d.labels[k], i, p.X, p.Y, p.F1, p.F2)
			}
		}
	}
	f.Key = append(f.Key,
		KeyEntry{Label: "level lines of f₁", Line: lineStyle(contourColors[0], 1)},
		KeyEntry{Label: "of f₂", Line: lineStyle(contourColors[1], 1, 4, 2)})
	return f
}

// paths draws the paths from step first on, over the level lines around them.
func (d *descents) paths(title string, first int) *Plot {
	p := NewBarePlot(title, "x", "y")
	p.X.Tick.Marker, p.Y.Tick.Marker = Ticks{N: 5}, Ticks{N: 5}
	var shown []toy.Point
	for _, points := range d.points {
		shown = append(shown, points[first:]...)
	}
	var box [4]float64 // xmin, xmax, ymin, ymax
	box[0], box[1] = around(0.14, 1e-4, each(shown, func(p toy.Point) float64 { return p.X })...)
	box[2], box[3] = around(0.14, 1e-4, each(shown, func(p toy.Point) float64 { return p.Y })...)
	p.Add(levels{func(x, y float64) float64 { return toy.At(x, y).F1 }, box, lineStyle(contourColors[0], 0.7)},
		levels{func(x, y float64) float64 { return toy.At(x, y).F2 }, box, lineStyle(contourColors[1], 0.7, 4, 2)})
	var marks []plot.Plotter
	for _, k := range d.longestFirst(first) {
		xys := places(d.points[k][first:])
		path := d.styles[k]
		path.Width, path.Marker = 1.8, nil
		p.Add(&Curve{Label: d.labels[k], Style: path, XY: xys, Unlisted: true})
		marks = append(marks, Dot{X: last(xys).X, Y: last(xys).Y, Glyph: d.styles[k].GlyphStyle(4)})
	}
	points, ring := d.points[0], draw.GlyphStyle{Color: Ink, Radius: vg.Points(4), Shape: draw.RingGlyph{}}
	if first == 0 {
		marks = append(marks, Dot{X: points[0].X, Y: points[0].Y, Glyph: ring, Text: "start"})
	}
	p.Add(append(marks, Dot{X: points[d.arrival].X, Y: points[d.arrival].Y, Glyph: ring, Text: "task 2 arrives"})...)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = box[0], box[1], box[2], box[3]
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

// places returns the coordinates of points.
func places(points []toy.Point) (xys plotter.XYs) {
	for _, p := range points {
		xys = append(xys, plotter.XY{X: p.X, Y: p.Y})
	}
	return xys
}

func (d *descents) losses(label string, value func(toy.Point) float64) *Plot {
	p := NewPlot("", "step", label)
	p.LabelEnds()
	p.Mark(float64(d.arrival), "task 2 arrives")
	p.X.Tick.Marker = Ticks{N: 4}
	var late []float64 // values from shortly before the arrival on
	for k, points := range d.points {
		var xys plotter.XYs
		for step, at := range points {
			if step >= d.arrival*3/4 {
				late = append(late, value(at))
			}
			xys = append(xys, plotter.XY{X: float64(step), Y: value(at)})
		}
		p.Add(&Curve{Label: d.labels[k], Style: d.styles[k], XY: xys})
	}
	low, high := slices.Min(late), slices.Max(late)
	margin := 0.08 * (high - low)
	p.X.Min, p.Y.Min, p.Y.Max = 0, low-margin, high+2*margin
	return p
}
