package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// ratioEdge is the exponent beyond which a ratio is drawn as 0 or ∞.
const ratioEdge = 3

// Ratio draws how the elastic factors share out the weight of two gradients (the paper's Fig. 4):
// λ₂/λ₁ of EMGD against σ₁ = 1 − σ₂ as a line, one for each pair, and MGDA's, which knows no σ, as a
// dashed level. They meet at σ₁ = ½. Each pair is a Gram matrix (‖J₁‖², J₁·J₂, J₂·J₁, ‖J₂‖²). The ratio
// is on a logarithmic axis whose ends stand for 0 (λ₂ = 0) and ∞ (λ₁ = 0).
func Ratio(t *Theme, grams ...[]float64) (*Figure, error) {
	if len(grams) == 0 {
		return nil, errors.New("viz: no pair of gradients to draw")
	}
	p := ratioPlot(t, "elastic factor σ₁ of the first gradient")
	var key []keyEntry
	meet := &pointMarks{theme: t}
	for i, gram := range grams {
		if len(gram) != 4 || !(gram[0] > 0) || !(gram[3] > 0) || gram[1] != gram[2] {
			return nil, fmt.Errorf("viz: pair %d has the Gram matrix %v; want (‖J₁‖², J₁·J₂, J₂·J₁, ‖J₂‖²) of two gradients that are not 0", i+1, gram)
		}
		color := t.Hues[(i+1)%len(t.Hues)]
		var xys plotter.XYs
		for k := range 199 {
			s := float64(k+1) / 200
			e, err := logRatio(gram, []float64{s, 1 - s})
			if err != nil {
				return nil, fmt.Errorf("viz: pair %d: %w", i+1, err)
			}
			xys = append(xys, plotter.XY{X: s, Y: e})
		}
		level, err := logRatio(gram, []float64{1, 1})
		if err != nil {
			return nil, fmt.Errorf("viz: pair %d: %w", i+1, err)
		}
		if err := addLines(p, t.line(color, 1.6), xys); err != nil {
			return nil, err
		}
		if err := addLines(p, t.line(color, 1, 4, 2), plotter.XYs{{X: 0, Y: level}, {X: 1, Y: level}}); err != nil {
			return nil, err
		}
		meet.items = append(meet.items, pointMark{x: 0.5, y: level, glyph: draw.GlyphStyle{Color: color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}})
		cos := gram[1] / math.Sqrt(gram[0]*gram[3])
		key = append(key, keyEntry{line: t.line(color, 1.6), label: fmt.Sprintf("‖J₂‖/‖J₁‖ = %.3g, cos = %.2f", math.Sqrt(gram[3]/gram[0]), cos)})
	}
	p.Add(meet)
	p.X.Min, p.X.Max = 0, 1
	f := newFigure(t, 290, fmt.Sprintf("Ratio of the two weights of EMGD against the elastic factor, with that of MGDA, for %d pairs of gradients.", len(grams)), []*plot.Plot{p})
	f.key = append([]keyEntry{{label: "EMGD", line: t.line(t.Ink, 1.6)}, {label: "MGDA", line: t.line(t.Ink, 1, 4, 2)}}, key...)
	return f, nil
}

func ratioPlot(t *Theme, x string) *plot.Plot {
	p := t.newPlot(x, "λ₂/λ₁")
	p.Add(t.horizontals())
	p.Y.Min, p.Y.Max = -ratioEdge-0.2, ratioEdge+0.2
	ticks := []plot.Tick{{Value: -ratioEdge, Label: "0"}, {Value: ratioEdge, Label: "∞"}}
	for e := -ratioEdge + 1; e < ratioEdge; e++ {
		ticks = append(ticks, plot.Tick{Value: float64(e), Label: fmt.Sprint(math.Pow10(e))})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	return p
}

// logRatio is log₁₀(λ₂/λ₁) of the solved pair, kept on the axis.
func logRatio(gram, sigma []float64) (float64, error) {
	var solver emgd.Solver
	c, err := solver.Solve(gram, sigma)
	if err != nil {
		return 0, err
	}
	return logOf(c.Lambda[0], c.Lambda[1]), nil
}

// logOf is log₁₀(b/a), kept on the axis.
func logOf(a, b float64) float64 {
	return min(max(math.Log10(b)-math.Log10(a), -ratioEdge), ratioEdge)
}

func addLines(p *plot.Plot, style draw.LineStyle, xys plotter.XYs) error {
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.LineStyle = style
	p.Add(line)
	return nil
}

// MeasuredRatio draws the weight λ of a second stream over that of a first as a run recorded them, over
// the steps that both take part in, beside what MGDA gives for the same gradients (Fig. 4 on measured
// gradients): on the left over the steps, on the right against the first stream's share of the two
// elastic factors. The ids are those of the records; 0 is the memory.
func MeasuredRatio(t *Theme, records []results.Record, first, second int) (*Figure, error) {
	kept, err := withCertificate(records)
	if err != nil {
		return nil, err
	}
	var steps, parts [2]plotter.XYs // of EMGD and of MGDA
	for i := range kept {
		r := &kept[i]
		a, b := slices.Index(r.IDs, first), slices.Index(r.IDs, second)
		if a < 0 || b < 0 || a == b || len(r.Gram) == 0 || r.Lambda[a]+r.Lambda[b] == 0 {
			continue
		}
		lambda, err := minNorm(r.Gram, len(r.IDs))
		if err != nil {
			return nil, fmt.Errorf("viz: step %d: %w", r.Step, err)
		}
		part := r.Sigma[a] / (r.Sigma[a] + r.Sigma[b])
		add := func(k int, lambda []float64) {
			if lambda[a]+lambda[b] == 0 {
				return
			}
			ratio := logOf(lambda[a], lambda[b])
			steps[k] = append(steps[k], plotter.XY{X: float64(r.Step), Y: ratio})
			parts[k] = append(parts[k], plotter.XY{X: part, Y: ratio})
		}
		add(0, r.Lambda)
		add(1, lambda)
	}
	if len(steps[0]) == 0 {
		return nil, fmt.Errorf("viz: no recorded step has weights of %s and %s, with a Gram matrix", streamName(first), streamName(second))
	}
	styles := [2]draw.GlyphStyle{t.Method("emgd-gmc").glyph(1.5), t.Method("mgda").glyph(2.2)}
	styles[1].Shape = draw.RingGlyph{}
	over, against := ratioPlot(t, "optimiser step"), ratioPlot(t, fmt.Sprintf("σ of %s, as a share of both", streamName(first)))
	for k := 1; k >= 0; k-- {
		for _, at := range []struct {
			p   *plot.Plot
			xys plotter.XYs
		}{{over, steps[k]}, {against, parts[k]}} {
			points, err := plotter.NewScatter(at.xys)
			if err != nil {
				return nil, err
			}
			points.GlyphStyle = styles[k]
			at.p.Add(points)
		}
	}
	narrowRatios(append(slices.Clone(steps[0]), steps[1]...), over, against)
	over.Y.Label.Text = fmt.Sprintf("λ of %s over λ of %s", streamName(second), streamName(first))
	against.Y.Label.Text = ""
	f := newFigure(t, 270, fmt.Sprintf("Recorded ratio of the weights of %s and %s over %d steps, with that of MGDA.", streamName(second), streamName(first), len(steps[0])),
		[]*plot.Plot{over, against})
	f.key = []keyEntry{{label: "EMGD, as recorded", glyph: styles[0]}, {label: "MGDA on the same gradients", glyph: styles[1]}}
	return f, nil
}

// narrowRatios cuts decades off the axes that no point comes near.
func narrowRatios(points plotter.XYs, plots ...*plot.Plot) {
	low, high := -1.0, 1.0
	for _, at := range points {
		low, high = min(low, at.Y), max(high, at.Y)
	}
	for _, p := range plots {
		p.Y.Min, p.Y.Max = max(p.Y.Min, low-0.3), min(p.Y.Max, high+0.3)
	}
}

// minNorm returns MGDA's weights of K gradients.
func minNorm(gram []float64, k int) ([]float64, error) {
	var solver emgd.Solver
	c, err := solver.Solve(gram, slices.Repeat([]float64{1}, k))
	if err != nil {
		return nil, err
	}
	return c.Lambda, nil
}
