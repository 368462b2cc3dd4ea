package viz

import (
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/stats"
)

// Claim says that one method is better than another: A and B are their scores in the same situations.
type Claim struct {
	Label string
	A, B  []float64
}

// TestedClaim is a claim with the result of an exact sign-flip test.
type TestedClaim struct {
	Claim
	Mean float64 // of A − B
	// P is the two-sided p-value, and Adjusted the p-value after Holm's correction for all claims tested together.
	// Both are NaN if Refused is set.
	P, Adjusted float64
	// Refused says why there is no test: the pairs are too few to show anything after the correction.
	Refused error
}

// TestClaims tests claims together, at a level.
func TestClaims(alpha float64, claims ...Claim) ([]TestedClaim, error) {
	out := make([]TestedClaim, len(claims))
	var p []float64
	var tested []int
	for i, c := range claims {
		if len(c.A) == 0 || len(c.A) != len(c.B) {
			return nil, fmt.Errorf("viz: claim %q has %d and %d scores; want pairs", c.Label, len(c.A), len(c.B))
		}
		out[i] = TestedClaim{Claim: c, Mean: stats.MeanDifference([][]float64{c.A}, [][]float64{c.B}), P: math.NaN(), Adjusted: math.NaN()}
		r, err := stats.SignFlip(c.A, c.B)
		needed, few := stats.Needed(alpha, len(claims)), new(stats.TooFewError)
		switch {
		case errors.As(err, &few):
			out[i].Refused = err
		case err != nil:
			return nil, fmt.Errorf("viz: claim %q: %w", c.Label, err)
		case len(c.A) < needed:
			out[i].Refused = &stats.TooFewError{Pairs: len(c.A), Needed: needed, Alpha: alpha, Tests: len(claims)}
		default:
			out[i].Mean, out[i].P = r.Mean, r.P
			p, tested = append(p, r.P), append(tested, i)
		}
	}
	adjusted, err := stats.Holm(p)
	for n, i := range tested {
		out[i].Adjusted = adjusted[n]
	}
	return out, err
}

// Holds says whether the difference is significant at a level after the correction, in either direction.
func (c TestedClaim) Holds(alpha float64) bool { return c.Adjusted <= alpha }

// Claims draws the differences of paired scores, a row for each claim: a pale point for each pair, a large one for
// their mean, filled where the difference is significant at the level after Holm's correction for all rows. It must
// show how large a difference is, how much it varies, and whether it may be luck. Claims with too few pairs have no p-value.
func Claims(t *Theme, unit string, alpha float64, claims ...Claim) (*Figure, error) {
	tested, err := TestClaims(alpha, claims...)
	if err != nil {
		return nil, err
	}
	glyph := func(c color.Color, shape draw.GlyphDrawer) draw.GlyphStyle {
		return draw.GlyphStyle{Color: c, Radius: vg.Points(3.8), Shape: shape}
	}
	key := []keyEntry{
		{label: "mean, better", glyph: glyph(t.Hues[1], draw.CircleGlyph{}), tight: true},
		{label: "mean, worse", glyph: glyph(t.Hues[0], draw.CircleGlyph{}), tight: true},
		{label: fmt.Sprintf("mean, no difference shown at the level %g", alpha), glyph: glyph(t.Muted, draw.RingGlyph{}), tight: true},
		{label: "(pale: single pairs; p after Holm's correction)"},
	}
	var d dotRows
	data := Table{Head: []string{"claim", "pair", "difference", "mean", "p", "p_holm"}}
	for i, c := range tested {
		d.rows = append(d.rows, c.Label)
		it := dotRow{row: i, mean: key[2].glyph, text: fmt.Sprintf("%+.1f, p = %.2g", c.Mean, c.Adjusted)}
		switch {
		case c.Refused != nil:
			it.text = fmt.Sprintf("%+.1f, too few pairs", c.Mean)
		case c.Holds(alpha) && c.Mean < 0:
			it.mean = key[1].glyph
		case c.Holds(alpha):
			it.mean = key[0].glyph
		}
		for k := range c.A {
			it.values = append(it.values, c.A[k]-c.B[k])
			data.add(c.Label, k+1, c.A[k]-c.B[k], c.Mean, c.P, c.Adjusted)
		}
		d.items = append(d.items, it)
	}
	p := t.panel("", "difference, "+unit, "")
	p.dotRows(d)
	return t.figure(layout{name: "claims", data: data, height: vg.Length(50 + 26*len(tested)), key: key,
		alt: fmt.Sprintf("Differences of paired scores for %d claims, with exact tests.", len(tested))}, []*Plot{p})
}
