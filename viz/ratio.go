package viz

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/plural"
)

// ratioEdge is the exponent beyond which a ratio is drawn as 0 or ∞.
const ratioEdge = 3

// Ratio draws how the elastic factors divide the weight between two gradients (the paper's Fig. 4):
// for each pair λ₂/λ₁ of EMGD against σ₁ = 1 − σ₂, and the ratio of MGDA, which has no σ, as a
// dashed level. It must show how strongly σ changes the ratio: from ∞ to 0 for gradients that
// agree, and less the more they conflict. A pair is given by its Gram matrix (‖J₁‖², J₁·J₂, J₂·J₁,
// ‖J₂‖²). The ends of the logarithmic axis stand for 0 (λ₂ = 0) and ∞ (λ₁ = 0).
func Ratio(grams ...[]float64) (*Figure, error) {
	p := NewPlot("", "elastic factor σ₁ of the first gradient", "λ₂ / λ₁")
	ratioAxes(p)
	f := Figure{Name: "ratio", Data: Table{Head: []string{"pair", "sigma1", "log10_ratio", "log10_ratio_mgda"}},
		Key: []KeyEntry{{Label: "EMGD", Line: lineStyle(Ink, 1.6)}, {Label: "MGDA", Line: lineStyle(Ink, 1, 4, 2)}},
		Alt: fmt.Sprintf("Ratio of the two weights of EMGD against the elastic factor, with that of MGDA, for %s of "+
			"gradients.", plural.Of(len(grams), "pair"))}
	var meet []plot.Plotter
	for i, gram := range grams {
		color, level := SeriesColor((i+1)%7), logRatio(gram, 1, 1)
		var xys plotter.XYs
		for k := 1; k < 200; k++ {
			s := float64(k) / 200
			e := logRatio(gram, s, 1-s)
			xys = append(xys, plotter.XY{X: s, Y: e})
			f.Data.Add(i+1, s, e, level)
		}
		cos := gram[1] / math.Sqrt(gram[0]*gram[3])
		label := fmt.Sprintf("‖J₂‖ / ‖J₁‖ = %.3g, cos = %s", math.Sqrt(gram[3]/gram[0]), signed(cos))
		dashed := Style{Color: color, Width: 1, Dashes: []vg.Length{4, 2}}
		p.Add(&Curve{Label: label, Style: Style{Color: color}, XY: xys, Unlisted: true},
			&Curve{Label: label, Style: dashed, XY: plotter.XYs{{X: 0, Y: level}, {X: 1, Y: level}}, Unlisted: true})
		meet = append(meet, Dot{X: 0.5, Y: level,
			Glyph: draw.GlyphStyle{Color: color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}})
		f.Key = append(f.Key, KeyEntry{Label: label, Line: lineStyle(color, 1.6)})
	}
	p.Add(meet...)
	return NewFigure(f, []*Plot{p})
}

func ratioAxes(p *Plot) {
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, -ratioEdge-0.2, ratioEdge+0.2
	ticks := []plot.Tick{{Value: -ratioEdge, Label: "0"}, {Value: ratioEdge, Label: "∞"}}
	for e := -ratioEdge + 1; e < ratioEdge; e++ {
		ticks = append(ticks, plot.Tick{Value: float64(e), Label: fmt.Sprint(math.Pow10(e))})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
}

// logRatio is log₁₀(λ₂/λ₁) of a pair with two elastic factors, kept on the axis.
func logRatio(gram []float64, sigma ...float64) float64 {
	p, err := emgd.NewProblem(gram)
	if err != nil || len(gram) != 4 || !(gram[0] > 0) || !(gram[3] > 0) {
		panic(fmt.Sprintf("viz: a pair has the Gram matrix %v; want (‖J₁‖², J₁·J₂, J₂·J₁, ‖J₂‖²) "+
			"of two gradients that are not 0", gram))
	}
	c, err := new(emgd.Solver).Solve(p, sigma)
	if err != nil {
		panic("viz: " + err.Error())
	}
	return min(max(math.Log10(c.Lambda[1])-math.Log10(c.Lambda[0]), -ratioEdge), ratioEdge)
}
