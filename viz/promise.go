package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Promise is what a step said about the memory's loss and what became of it.
type Promise struct {
	Step int
	// Guaranteed is −γσ‖d‖², above which the change is not, to first order, by the step's certificate; NaN without a
	// certificate of the memory's row, and where a floor on λ binds, so that less than that is certified. Where the weights are the certificate's λ rescaled to w = cλ it is −γσ‖d‖²/c.
	// Predicted is −γJ·d, the change to first order.
	Guaranteed, Predicted float64
	// Changed is the loss of the same batch after the step less that before.
	Changed float64
}

// PromisesOf returns the promises of the steps of plain descent with the step size γ in which the memory and a task took
// part. The run must have been observed (Options.Observe of package experiment). Several rows of the memory count as
// one, their sum.
func PromisesOf(rate float64, records []results.Record) []Promise {
	var out []Promise
	for i := range records {
		r := &records[i]
		if len(r.Gram) != len(r.IDs)*len(r.IDs) || len(r.Losses) != len(r.IDs) || len(r.LossesAfter) != len(r.IDs) || len(r.Weights) != len(r.IDs) {
			continue
		}
		m, ok := memoryOf(r)
		if !ok {
			continue
		}
		p := Promise{Step: r.Step, Predicted: -rate * m.along, Guaranteed: math.NaN()}
		rows := 0
		for k, id := range r.IDs {
			if !ofMemory(id) {
				continue
			}
			rows++
			p.Changed += r.LossesAfter[k] - r.Losses[k]
			if certified(r) && !floorBinds(r) {
				p.Guaranteed = -rate * r.Sigma[k] * certifiedWith(r)
			}
		}
		if rows > 1 {
			p.Guaranteed = math.NaN()
		}
		out = append(out, p)
	}
	return out
}

// certifiedWith is Σᵢⱼ λᵢMᵢⱼwⱼ: ‖d‖² where the weights w are the certificate's λ, and in proportion where they were
// rescaled.
func certifiedWith(r *results.Record) (sum float64) {
	k := len(r.IDs)
	for i, lambda := range r.Lambda {
		for j, w := range r.Weights {
			sum += lambda * r.Gram[i*k+j] * w
		}
	}
	return sum
}

// Promises draws, for runs of plain descent with the step size γ, by how much the memory's loss changed on the batch of
// the step, against the change to first order; a panel for each label (its first run). The line is where both are the
// same. It must show which method makes steps that raise the memory's loss, and whether what a certificate guarantees is
// kept. The steps with the largest changes, a hundredth of all, may lie at the edge.
func Promises(t *Theme, rate float64, recorded ...Recorded) (*Figure, error) {
	groups, err := t.grouped(recorded)
	if err != nil {
		return nil, err
	}
	l := layout{name: "promises", row: 250, data: Table{Head: []string{"run", "step", "guaranteed", "predicted", "changed"}},
		alt: fmt.Sprintf("Change of the memory's loss against its prediction to first order, for %d methods.", len(groups))}
	var sizes []float64
	of := make([][]Promise, len(groups))
	for i, g := range groups {
		if of[i] = PromisesOf(rate, g.runs[0]); len(of[i]) == 0 {
			return nil, fmt.Errorf("viz: %s: no step has the memory's loss after it; observe the run", g.label)
		}
		for _, p := range of[i] {
			sizes = append(sizes, p.Predicted, p.Changed)
			l.data.add(g.label, p.Step, p.Guaranteed, p.Predicted, p.Changed)
		}
	}
	slices.Sort(sizes)
	low, high := min(0, sizes[(len(sizes)-1)/200]), max(0, sizes[(len(sizes)-1)*199/200])
	if low == high {
		return nil, errors.New("viz: no step changes the memory's loss")
	}
	kept := func(x float64) float64 { return min(max(x, low), high) }
	l.key = []keyEntry{
		{label: "the memory's loss fell", glyph: draw.GlyphStyle{Color: t.Hues[1], Radius: vg.Points(1.7), Shape: draw.CircleGlyph{}}, tight: true},
		{label: "it rose", glyph: draw.GlyphStyle{Color: t.Hues[0], Radius: vg.Points(1.9), Shape: polygon{4, 45}}, tight: true},
		{label: "as predicted", line: t.line(t.Ink, 1, 4, 2)},
	}
	var plots []*Plot
	for i, g := range groups {
		p := t.panel(g.label, "change to first order, −γ J·d", "change of the memory's loss")
		grid := t.horizontals()
		grid.Vertical = t.line(t.Grid, 0.5)
		p.Add(grid)
		p.line(t.line(t.Muted, 0.7), plotter.XYs{{X: low}, {X: high}})
		p.line(t.line(t.Muted, 0.7), plotter.XYs{{Y: low}, {Y: high}})
		p.line(l.key[2].line, plotter.XYs{{X: low, Y: low}, {X: high, Y: high}})
		for _, x := range of[i] {
			glyph := l.key[0].glyph
			if x.Changed > 0 {
				glyph = l.key[1].glyph
			}
			p.dots(dot{x: kept(x.Predicted), y: kept(x.Changed), glyph: glyph})
		}
		room := 0.03 * (high - low)
		p.axes(low-room, high+room, low-room, high+room)
		p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks{4}, roundTicks{5}
		plots = append(plots, p)
	}
	return t.figure(l, inRows(plots)...)
}
