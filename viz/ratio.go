package viz

import (
	"errors"
	"fmt"
	"image/color"
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

// Ratio draws how the elastic factors divide the weight between two gradients (the paper's Fig. 4): a line for each pair for
// λ₂/λ₁ of EMGD against σ₁ = 1 − σ₂, and a dashed level for MGDA, which has no σ. It must show by how much σ changes the ratio:
// from ∞ to 0 for gradients that agree, less the more they conflict. Each pair is a Gram matrix (‖J₁‖², J₁·J₂, J₂·J₁, ‖J₂‖²). The
// ends of the logarithmic axis stand for 0 (λ₂ = 0) and ∞ (λ₁ = 0).
func Ratio(t *Theme, grams ...[]float64) (*Figure, error) {
	if len(grams) == 0 {
		return nil, errors.New("viz: no pair of gradients to draw")
	}
	p := t.ratioPlot("elastic factor σ₁ of the first gradient", "λ₂ / λ₁")
	key := []keyEntry{{label: "EMGD", line: t.line(t.Ink, 1.6)}, {label: "MGDA", line: t.line(t.Ink, 1, 4, 2)}}
	data := Table{Head: []string{"pair", "sigma1", "log10_ratio", "log10_ratio_mgda"}}
	var meet []dot
	for i, gram := range grams {
		if len(gram) != 4 || !(gram[0] > 0) || !(gram[3] > 0) || gram[1] != gram[2] {
			return nil, fmt.Errorf("viz: pair %d has the Gram matrix %v; want (‖J₁‖², J₁·J₂, J₂·J₁, ‖J₂‖²) of two gradients that are not 0", i+1, gram)
		}
		color := t.Hues[(i+1)%len(t.Hues)]
		level, err := logRatio(gram, []float64{1, 1})
		var xys plotter.XYs
		for k := 1; k < 200 && err == nil; k++ {
			var e float64
			s := float64(k) / 200
			e, err = logRatio(gram, []float64{s, 1 - s})
			xys = append(xys, plotter.XY{X: s, Y: e})
			data.add(i+1, s, e, level)
		}
		if err != nil {
			return nil, fmt.Errorf("viz: pair %d: %w", i+1, err)
		}
		cos := gram[1] / math.Sqrt(gram[0]*gram[3])
		label := fmt.Sprintf("‖J₂‖ / ‖J₁‖ = %.3g, cos = %.2f", math.Sqrt(gram[3]/gram[0]), cos)
		p.line(label, t.line(color, 1.6), xys)
		p.level(label, t.line(color, 1, 4, 2), 0, 1, level)
		meet = append(meet, dot{x: 0.5, y: level, glyph: draw.GlyphStyle{Color: color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}})
		key = append(key, keyEntry{line: t.line(color, 1.6), label: label})
	}
	p.dots(meet...)
	return t.figure(layout{name: "ratio", data: data, height: 290, key: key,
		alt: fmt.Sprintf("Ratio of the two weights of EMGD against the elastic factor, with that of MGDA, for %d pairs of gradients.", len(grams))}, []*Plot{p})
}

func (t *Theme) ratioPlot(x, y string) *Plot {
	p := NewPlot(t, "", x, y)
	p.axes(0, 1, -ratioEdge-0.2, ratioEdge+0.2)
	ticks := []plot.Tick{{Value: -ratioEdge, Label: "0"}, {Value: ratioEdge, Label: "∞"}}
	for e := -ratioEdge + 1; e < ratioEdge; e++ {
		ticks = append(ticks, plot.Tick{Value: float64(e), Label: fmt.Sprint(math.Pow10(e))})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	return p
}

// logRatio is log₁₀(λ₂/λ₁) of the solved pair, kept on the axis.
func logRatio(gram, sigma []float64) (float64, error) {
	lambda, err := solve(gram, sigma)
	if err != nil {
		return 0, err
	}
	return logOf(lambda[0], lambda[1]), nil
}

func solve(gram, sigma []float64) ([]float64, error) {
	p, err := emgd.NewProblem(gram)
	if err != nil {
		return nil, err
	}
	c, err := new(emgd.Solver).Solve(p, sigma)
	if err != nil {
		return nil, err
	}
	return c.Lambda, nil
}

// logOf is log₁₀(b/a), kept on the axis.
func logOf(a, b float64) float64 {
	return min(max(math.Log10(b)-math.Log10(a), -ratioEdge), ratioEdge)
}

// MeasuredRatio draws what the elastic factors did to the weights λ of two streams of a run (Fig. 4 on measured gradients): their
// ratio over that of MGDA for the same gradients, against the first one's share of the two σ, a point for each step. It must show
// the law that the points follow: at right angles the ratio is σ₂/σ₁ times MGDA's; with two streams of equal length and a cosine
// c it is (σ₂ − σ₁c)/(σ₁ − σ₂c), drawn as lines in the colours of the points near such a cosine. The ends of the axis stand for 0
// and ∞. The ids are those of the records; 0 is the memory.
func MeasuredRatio(t *Theme, records []results.Record, first, second int) (*Figure, error) {
	kept, err := withCertificate(records)
	if err != nil {
		return nil, err
	}
	rows := streamsOf(kept...)
	steps, met, err := pairSteps(kept, first, second)
	if err != nil {
		return nil, err
	}
	if met == 0 {
		return nil, fmt.Errorf("viz: no recorded step has weights of %s and %s, with a Gram matrix", rows.name(first), rows.name(second))
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("viz: of the %d steps of %s and %s none has a ratio of EMGD's weights and one of MGDA's to compare", met, rows.name(first), rows.name(second))
	}
	a, b := rows.name(first), rows.name(second)
	p := t.ratioPlot(fmt.Sprintf("σ of %s, as a share of both", a), fmt.Sprintf("λ of %s / λ of %s, over MGDA's", b, a))
	var key []keyEntry
	for _, c := range []float64{-0.5, 0, 0.5} {
		e := keyEntry{label: fmt.Sprintf("law at a cosine of %+.1f", c), line: t.line(t.angle(c), 1.4)}
		if c == 0 {
			e = keyEntry{label: "law at right angles, σ₂ / σ₁", line: t.line(t.Ink, 1.4)}
		}
		p.line(e.label, e.line, ratioLaw(c))
		key = append(key, e)
	}
	data := Table{Head: []string{"step", "sigma_share", "cosine", "log10_ratio", "log10_ratio_mgda", "log10_quotient"}}
	low, high := -0.7, 0.7
	for _, s := range steps {
		q := s.quotient()
		p.dots(dot{x: s.share, y: q, glyph: t.anglePoint(s.cosine)})
		data.add(s.step, s.share, s.cosine, s.ratio, s.mgda, q)
		low, high = min(low, q), max(high, q)
	}
	p.axes(0, 1, max(p.Y.Min, low-0.3), min(p.Y.Max, high+0.3))
	for i, label := range []string{"step in conflict", "at right angles", "in agreement"} {
		key = append(key, keyEntry{label: label, glyph: t.anglePoint(float64(i-1) / 2)})
	}
	if left := met - len(steps); left > 0 {
		key = append(key, keyEntry{label: fmt.Sprintf("(%d of %d steps without a ratio: both drop the same stream)", left, met)})
	}
	return t.figure(layout{name: "measured-ratio", data: data, height: 300, key: key,
		alt: fmt.Sprintf("Recorded ratio of the weights of %s and %s over MGDA's, against their elastic factors, in %d steps.", b, a, len(steps))}, []*Plot{p})
}

// pairStep is what a step says about two streams: exponents of the ratios of their weights.
type pairStep struct {
	step          int
	share, cosine float64
	ratio, mgda   float64
}

func (s *pairStep) quotient() float64 { return min(max(s.ratio-s.mgda, -ratioEdge), ratioEdge) }

// pairSteps returns the steps with a ratio of EMGD's and MGDA's weights, and how many both streams took
// part in. Where both rules give 0, or both ∞, there is nothing to divide.
func pairSteps(records []results.Record, first, second int) (out []pairStep, met int, err error) {
	for i := range records {
		r := &records[i]
		k, a, b := len(r.IDs), slices.Index(r.IDs, first), slices.Index(r.IDs, second)
		if a < 0 || b < 0 || a == b || len(r.Gram) == 0 || r.Lambda[a]+r.Lambda[b] == 0 || r.Sigma[a]+r.Sigma[b] == 0 {
			continue
		}
		met++
		lambda, err := solve(r.Gram, slices.Repeat([]float64{1}, k))
		if err != nil {
			return nil, 0, fmt.Errorf("viz: step %d: %w", r.Step, err)
		}
		norms := math.Sqrt(r.Gram[a*k+a] * r.Gram[b*k+b])
		if norms == 0 || lambda[a]+lambda[b] == 0 {
			continue
		}
		s := pairStep{step: r.Step, share: r.Sigma[a] / (r.Sigma[a] + r.Sigma[b]), cosine: r.Gram[a*k+b] / norms,
			ratio: logOf(r.Lambda[a], r.Lambda[b]), mgda: logOf(lambda[a], lambda[b])}
		if math.Abs(s.ratio) == ratioEdge && s.ratio == s.mgda {
			continue
		}
		out = append(out, s)
	}
	return out, met, nil
}

// ratioLaw is the exponent of λ₂/λ₁ over MGDA's against σ₁ = 1 − σ₂, of two gradients of equal length.
func ratioLaw(cosine float64) plotter.XYs {
	var xys plotter.XYs
	for k := range 199 {
		s := float64(k+1) / 200
		a, b := max(0, s-(1-s)*cosine), max(0, 1-s-s*cosine)
		xys = append(xys, plotter.XY{X: s, Y: logOf(a, b)})
	}
	return xys
}

// angle colours a cosine: conflict in the first hue, agreement in the second, right angles muted.
func (t *Theme) angle(cosine float64) color.NRGBA {
	if cosine < 0 {
		return mix(t.Muted, t.Hues[0], min(1, -2*cosine))
	}
	return mix(t.Muted, t.Hues[1], min(1, 2*cosine))
}

func (t *Theme) anglePoint(cosine float64) draw.GlyphStyle {
	return draw.GlyphStyle{Color: t.angle(cosine), Radius: vg.Points(2.4), Shape: draw.CircleGlyph{}}
}
