package viz

import (
	"fmt"
	"math"

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
	return t.figure(layout{name: "toy-losses", data: traceTable(traces), height: 270,
		alt: fmt.Sprintf("Both toy functions over the steps of %d methods; the second task arrives at step %d.", len(traces), traces[0].Arrival),
	}, []*Plot{
		t.lossPlot(traces, "f₁ (old task)", func(tr *Trace) []float64 { return tr.F1 }),
		t.lossPlot(traces, "f₂ (new task)", func(tr *Trace) []float64 { return tr.F2 }),
	})
}

func (t *Theme) lossPlot(traces []Trace, label string, values func(*Trace) []float64) *Plot {
	p := t.panel("", "step", label)
	p.X.Tick.Marker = roundTicks{4}
	p.grid()
	p.Add(&verticals{theme: t, marks: []vertical{{x: float64(traces[0].Arrival), label: "task 2 arrives"}}})
	styles := t.tracesOf(traces)
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
		p.line(s.line(1.6), xys)
		last := xys[len(xys)-1]
		p.nameEnd(endLabel{x: last.X, y: last.Y, text: tr.label(), line: s.line(1), glyph: s.glyph(2.6)})
	}
	margin := 0.08 * (high - low)
	p.axes(0, p.X.Max, low-margin, high+2*margin)
	return p
}
