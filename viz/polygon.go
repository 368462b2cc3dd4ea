package viz

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// polygon is a filled regular polygon as a marker: the first corner lies at an angle in degrees.
type polygon struct {
	corners int
	angle   float64
}

func (g polygon) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	// Fewer corners enclose less: a longer radius makes up for it.
	radius := float64(sty.Radius) * (1 + 0.6/float64(g.corners-1))
	var path vg.Path
	for i := range g.corners {
		sin, cos := math.Sincos((g.angle + 360*float64(i)/float64(g.corners)) * math.Pi / 180)
		corner := vg.Point{X: pt.X + vg.Length(radius*cos), Y: pt.Y + vg.Length(radius*sin)}
		if i == 0 {
			path.Move(corner)
		} else {
			path.Line(corner)
		}
	}
	path.Close()
	c.SetColor(sty.Color)
	c.Fill(path)
}
