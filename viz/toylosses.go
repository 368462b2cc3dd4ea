package viz

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// ToyLosses draws both toy functions along each method's descent. It must show which methods let the old
// task's loss rise when the new one arrives, and how fast each lowers the new task's loss. The vertical axes
// cover the values from shortly before the second task's arrival on, where the methods differ; the first
// descent of f₁, which is the same for all of them, is cut off at the top.
func ToyLosses(t *Theme, traces ...Trace) (*Figure, error) {
	if err := checkTraces(traces); err != nil {
		return nil, err
	}
	f1, err := lossPlot(t, traces, "f₁ (old task)", func(tr *Trace) []float64 { return tr.F1 })
	if err != nil {
		return nil, err
	}
	f2, err := lossPlot(t, traces, "f₂ (new task)", func(tr *Trace) []float64 { return tr.F2 })
	if err != nil {
		return nil, err
	}
	alt := fmt.Sprintf("Both toy functions over the steps of %d methods; the second task arrives at step %d.", len(traces), traces[0].Arrival)
	return newFigure(t, 270, alt, []*plot.Plot{f1, f2}).holding("toy-losses", traceTable(traces)), nil
}

func lossPlot(t *Theme, traces []Trace, label string, values func(*Trace) []float64) (*plot.Plot, error) {
	p := t.newPlot("step", label)
	p.X.Tick.Marker = roundTicks{4}
	p.Add(t.horizontals())
	p.Add(&verticals{theme: t, marks: []vertical{{x: float64(traces[0].Arrival), label: "task 2 arrives"}}})
	ends := &endLabels{theme: t}
	styles := t.tracesOf(traces)
	low, high := math.Inf(1), math.Inf(-1)
	for i := range traces {
		tr := &traces[i]
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
		line, err := plotter.NewLine(xys)
		if err != nil {
			return nil, err
		}
		s := styles[i]
		line.LineStyle = s.line(1.6)
		p.Add(line)
		last := xys[len(xys)-1]
		ends.labels = append(ends.labels, endLabel{x: last.X, y: last.Y, text: tr.label(), line: s.line(1), glyph: s.glyph(2.6)})
	}
	p.Add(ends)
	margin := 0.08 * (high - low)
	p.Y.Min, p.Y.Max = low-margin, high+2*margin
	p.X.Min = 0
	return p, nil
}
