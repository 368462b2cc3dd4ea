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
func ToyDescent(traces ...Trace) (*Figure, error) {
	checkTraces(traces)
	return figureOf(layout{name: "toy-descent", data: traceTable(traces), height: 300, key: toyKey(traces),
		alt: fmt.Sprintf("Level lines of the two toy functions with the paths of %d methods.", len(traces)),
	}, []*Plot{descentPlot("the whole descent", traces, 0), descentPlot("after task 2 has arrived", traces, traces[0].Arrival)})
}

// ToyPaths is the right half of [ToyDescent] alone.
func ToyPaths(traces ...Trace) (*Figure, error) {
	checkTraces(traces)
	return figureOf(layout{name: "toy-paths", data: traceTable(traces), height: 300, key: toyKey(traces),
		alt: "Paths of the methods on the two toy functions after the second task has arrived.",
	}, []*Plot{descentPlot("", traces, traces[0].Arrival)})
}

func toyKey(traces []Trace) (key []keyEntry) {
	for i, s := range tracesOf(traces) {
		key = append(key, keyEntry{label: traces[i].label(), line: s.line(1.6), glyph: s.glyph(2.8)})
	}
	return append(key,
		keyEntry{label: "level lines of f₁", line: lineStyle(contourColors[0], 1)},
		keyEntry{label: "of f₂", line: lineStyle(contourColors[1], 1, 4, 2)})
}

// tracesOf keeps the traces apart; those of one method, with other parameters, are variants of it.
func tracesOf(traces []Trace) []Style {
	methods := make([]string, len(traces))
	for i, tr := range traces {
		methods[i] = tr.Method
	}
	return named(looks(methods, func(int) bool { return true }))
}

// traceTable is both functions along each path.
func traceTable(traces []Trace) Table {
	data := Table{Head: []string{"method", "step", "x", "y", "f1", "f2"}}
	for _, tr := range traces {
		for i := range tr.X {
			if i%10 == 0 || i == len(tr.X)-1 {
				data.add(tr.label(), i, tr.X[i], tr.Y[i], tr.F1[i], tr.F2[i])
			}
		}
	}
	return data
}

// checkTraces panics at traces that cannot be compared.
func checkTraces(traces []Trace) {
	if len(traces) == 0 {
		panic("viz: no toy traces to draw")
	}
	for _, tr := range traces {
		if tr.Arrival != traces[0].Arrival || tr.Arrival >= len(tr.X)-1 {
			panic(fmt.Sprintf("viz: toy trace %q: task 2 arrives at step %d of %d; want one step for all traces, before the last", tr.Method, tr.Arrival, len(tr.X)))
		}
	}
}

// descentPlot draws the paths from step first on, over the level lines around them.
func descentPlot(title string, traces []Trace, first int) *Plot {
	p := panel(title, "x", "y")
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks{5}, roundTicks{5}
	box := boxOf(traces, first)
	p.Add(levels{toy.F1, box, lineStyle(contourColors[0], 0.7)}, levels{toy.F2, box, lineStyle(contourColors[1], 0.7, 4, 2)})
	styles := tracesOf(traces)
	var marks []dot
	for _, k := range longestFirst(traces, first) {
		xys, s := traces[k].path(first, box), styles[k]
		p.line(traces[k].label(), s.line(1.8), xys)
		end := xys[len(xys)-1]
		marks = append(marks, dot{x: end.X, y: end.Y, glyph: s.glyph(4)})
	}
	tr, ring := traces[0], draw.GlyphStyle{Color: ink, Radius: vg.Points(4), Shape: draw.RingGlyph{}}
	if first == 0 {
		marks = append(marks, dot{x: tr.X[0], y: tr.Y[0], glyph: ring, text: "start"})
	}
	p.dots(append(marks, dot{x: tr.X[tr.Arrival], y: tr.Y[tr.Arrival], glyph: ring, text: "task 2 arrives"})...)
	p.axes(box[0], box[1], box[2], box[3])
	return p
}

// longestFirst orders traces such that a short path over a longer one stays visible.
func longestFirst(traces []Trace, first int) []int {
	length := func(k int) float64 {
		tr, sum := &traces[k], 0.0
		for i := first + 1; i < len(tr.X); i++ {
			sum += math.Hypot(tr.X[i]-tr.X[i-1], tr.Y[i]-tr.Y[i-1])
		}
		return sum
	}
	sorted := make([]int, len(traces))
	for k := range sorted {
		sorted[k] = k
	}
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(length(b), length(a)) })
	return sorted
}

// boxOf returns xmin, xmax, ymin, ymax of all paths from step first on, with a margin.
func boxOf(traces []Trace, first int) (box [4]float64) {
	var x, y []float64
	for _, tr := range traces {
		x, y = append(x, tr.X[first:]...), append(y, tr.Y[first:]...)
	}
	box[0], box[1] = around(0.14, 1e-4, x...)
	box[2], box[3] = around(0.14, 1e-4, y...)
	return box
}

// ToyLosses draws both toy functions along each method's descent. It must show which methods let the old task's loss rise when
// the new one arrives, and how fast each lowers the new task's. The vertical axes begin shortly before the arrival, where the
// methods separate.
func ToyLosses(traces ...Trace) (*Figure, error) {
	checkTraces(traces)
	return figureOf(layout{name: "toy-losses", data: traceTable(traces), height: 270,
		alt: fmt.Sprintf("Both toy functions over the steps of %d methods; the second task arrives at step %d.", len(traces), traces[0].Arrival),
	}, []*Plot{
		lossPlot(traces, "f₁ (old task)", func(tr *Trace) []float64 { return tr.F1 }),
		lossPlot(traces, "f₂ (new task)", func(tr *Trace) []float64 { return tr.F2 }),
	})
}

func lossPlot(traces []Trace, label string, values func(*Trace) []float64) *Plot {
	p := NewPlot("", "step", label)
	p.NameEnds()
	p.Mark(float64(traces[0].Arrival), "task 2 arrives")
	p.X.Tick.Marker = roundTicks{4}
	styles := tracesOf(traces)
	low, high := math.Inf(1), math.Inf(-1)
	for i := range traces {
		tr, s := &traces[i], styles[i]
		vs := values(tr)
		var xys plotter.XYs
		for step, v := range vs {
			if step >= tr.Arrival*3/4 {
				low, high = min(low, v), max(high, v)
			}
			if step%10 == 0 || step < tr.Arrival && step%3 == 0 || step == len(vs)-1 {
				xys = append(xys, plotter.XY{X: float64(step), Y: v})
			}
		}
		p.named(tr.label(), s.line(1.6), xys)
		p.explain(keyEntry{label: tr.label(), glyph: s.glyph(2.8), end: xys[len(xys)-1]})
	}
	margin := 0.08 * (high - low)
	p.axes(0, p.X.Max, low-margin, high+2*margin)
	return p
}

// Trace is one method's descent on the two synthetic functions.
type Trace struct {
	Method string // for the style, e.g. "emgd-gmc"
	Label  string // for the reader; Method if it is empty
	// X, Y, F1 and F2 hold one entry per step, starting with the initial point.
	X, Y, F1, F2 []float64
	Arrival      int     // the step from which the second task takes part
	LR           float64 // the step size; 0 if it is not known
}

// NewTrace returns the path of a descent; label may be empty.
func NewTrace(t *toy.Trace, label string) Trace {
	tr := Trace{Method: t.Method, Label: label, Arrival: t.Settings.Arrival, LR: t.Settings.LR}
	add := func(p toy.Point) {
		tr.X, tr.Y = append(tr.X, p.X), append(tr.Y, p.Y)
		tr.F1, tr.F2 = append(tr.F1, p.F1), append(tr.F2, p.F2)
	}
	for _, s := range t.Steps {
		add(s.Point)
	}
	add(t.End)
	return tr
}

func (tr *Trace) label() string {
	if tr.Label != "" {
		return tr.Label
	}
	return tr.Method
}

// path returns the points from step first on, without those that lie too close to the one before
// to be told apart in a plot of the box (xmin, xmax, ymin, ymax).
func (tr *Trace) path(first int, box [4]float64) plotter.XYs {
	xys := plotter.XYs{{X: tr.X[first], Y: tr.Y[first]}}
	for i := first + 1; i < len(tr.X); i++ {
		last := xys[len(xys)-1]
		far := math.Hypot((tr.X[i]-last.X)/(box[1]-box[0]), (tr.Y[i]-last.Y)/(box[3]-box[2])) > 0.006
		if far || i == len(tr.X)-1 {
			xys = append(xys, plotter.XY{X: tr.X[i], Y: tr.Y[i]})
		}
	}
	return xys
}
