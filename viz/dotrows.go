package viz

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// dotRows draws values in named rows, the first at the top: the single ones small and pale, their mean large, and a
// text at the right.
type dotRows struct {
	theme *Theme
	rows  []string
	items []dotRow
	at    float64 // where a vertical line stands that divides the values; NaN for none
}

type dotRow struct {
	row    int
	shift  float64 // downwards from the middle of the row, in rows
	values []float64
	mean   draw.GlyphStyle
	text   string
}

func (d *dotRows) y(row int, shift float64) float64 { return float64(len(d.rows)-1-row) - shift }

// addTo adds the rows to a plot and names them along its vertical axis.
func (d *dotRows) addTo(p *plot.Plot) {
	p.Add(d)
	p.Y.Min, p.Y.Max = -0.5, float64(len(d.rows))-0.5
	p.Y.Tick.Marker = namedTicks(d.rows, func(i int) float64 { return d.y(i, 0) })
	p.Y.Tick.Length, p.Y.LineStyle.Width = 0, 0
	low, high := math.Inf(1), math.Inf(-1)
	if !math.IsNaN(d.at) {
		low, high = d.at, d.at
	}
	for _, it := range d.items {
		for _, v := range it.values {
			low, high = min(low, v), max(high, v)
		}
	}
	if high-low < 1e-9 { // all values are equal but for rounding
		high = low + 1
	}
	room := 0.04 * (high - low)
	p.X.Min, p.X.Max = low-room, high+room
	p.X.Tick.Marker = roundTicks{5}
}

func (d *dotRows) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	for i := range d.rows { // a line for the eye to follow
		c.StrokeLine2(d.theme.line(d.theme.Grid, 0.6), c.Min.X, trY(d.y(i, 0)), c.Max.X, trY(d.y(i, 0)))
	}
	if !math.IsNaN(d.at) {
		c.StrokeLine2(d.theme.line(d.theme.Muted, 0.9), trX(d.at), c.Min.Y, trX(d.at), c.Max.Y)
	}
	sty := d.theme.text(d.theme.Ink, tickSize)
	for _, it := range d.items {
		y := trY(d.y(it.row, it.shift))
		single := it.mean
		single.Radius = vg.Points(1.6)
		single.Shape = draw.CircleGlyph{}
		single.Color = mix(d.theme.Background, it.mean.Color.(color.NRGBA), 0.5)
		for _, v := range it.values {
			c.DrawGlyphNoClip(single, vg.Point{X: trX(v), Y: y})
		}
		mean, _ := meanStd(it.values)
		c.DrawGlyphNoClip(it.mean, vg.Point{X: trX(mean), Y: y})
		c.FillText(sty, vg.Point{X: c.Max.X + vg.Points(4), Y: y + lift}, it.text)
	}
}

// GlyphBoxes asks the plot for room on the right.
func (d *dotRows) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	sty := d.theme.text(d.theme.Ink, tickSize)
	var boxes []plot.GlyphBox
	for _, it := range d.items {
		if it.text != "" {
			boxes = append(boxes, plot.GlyphBox{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: vg.Points(6) + sty.Width(it.text)}}})
		}
	}
	return boxes
}
