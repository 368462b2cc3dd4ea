package viz

import (
	"cmp"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Dot is a marker at a point, perhaps with a text beside it, on the side where there is more room.
// It does not widen the axes.
type Dot struct {
	X, Y   float64
	Glyph  draw.GlyphStyle
	Text   string
	Series string // the series that it belongs to
}

// Plot draws the marker and its text.
func (d Dot) Plot(canvas draw.Canvas, p *plot.Plot) {
	c, sty := NewPen(canvas, p), TextStyle(Ink)
	at := c.At(d.X, d.Y)
	c.Describe(d.Series, cmp.Or(d.Text, fmt.Sprintf("%.4g, %.4g", d.X, d.Y)))
	c.DrawGlyphNoClip(d.Glyph, at)
	if d.Text == "" {
		return
	}
	left := at.X + vg.Points(7)
	if width := sty.Width(d.Text); left+width > c.Max.X {
		left = at.X - vg.Points(7) - width
	}
	c.DrawText(sty, vg.Point{X: left, Y: at.Y + vg.Points(8)}, d.Text)
}
