package viz

import (
	"cmp"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pen draws on a panel. x and y turn the axes' values into places on the canvas.
type pen struct {
	draw.Canvas
	x, y func(float64) vg.Length
}

func (c pen) at(x, y float64) vg.Point { return vg.Point{X: c.x(x), Y: c.y(y)} }

// stroke draws a line between two places on the canvas.
func (c pen) stroke(s draw.LineStyle, a, b vg.Point) { c.StrokeLine2(s, a.X, a.Y, b.X, b.Y) }

func (c pen) fill(fill color.Color, left, right, low, high vg.Length) {
	c.FillPolygon(fill, []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
}

// write begins a text at its left middle.
func (c pen) write(sty text.Style, at vg.Point, s string) {
	at.Y += lift
	c.FillText(sty, at, s)
}

// plate is write with a plate behind the text that keeps what lies there from running through it.
func (c pen) plate(sty text.Style, at vg.Point, s string) {
	c.SetColor(opaque(paper, 215))
	c.Fill(sty.Rectangle(s).Add(at).Path())
	c.write(sty, at, s)
}

// sketch is a plotter made of a function.
type sketch func(pen)

func (s sketch) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	s(pen{c, x, y})
	tagged(c, tag{})
}

func (p *Plot) sketch(draw func(c pen)) { p.Add(sketch(draw)) }

// line adds a line, as a series if it has a label. What its points cannot be is the figure's error.
func (p *Plot) line(label string, style draw.LineStyle, xys plotter.XYs) {
	if line, err := plotter.NewLine(xys); p.can(label, err) {
		line.LineStyle = style
		p.series(label, valuesOf(xys), func() { p.Add(line) })
	}
}

// series adds what a function adds as one of a name, with values.
func (p *Plot) series(label string, at [][]float64, add func()) {
	if label == "" {
		add()
		return
	}
	p.Add(tag{name: label, at: at})
	add()
	p.Add(tag{})
}

func valuesOf(xys plotter.XYs) (at [][]float64) {
	for _, xy := range xys {
		at = append(at, []float64{xy.X, xy.Y})
	}
	return at
}

// say names what is drawn next in a sketch, and what a reader is told of it.
func (c pen) say(name, format string, args ...any) {
	tagged(c.Canvas, tag{name: name, say: fmt.Sprintf(format, args...)})
}

// named is line with a name in the key, or at its end.
func (p *Plot) named(label string, style draw.LineStyle, xys plotter.XYs) {
	p.line(label, style, xys)
	p.explain(keyEntry{label: label, line: style, end: last(xys), way: xys})
}

// room widens the vertical axis by a margin at both ends, but not beyond two values.
func (p *Plot) room(margin, low, high float64) {
	p.Y.Min, p.Y.Max = max(low, p.Y.Min-margin), min(high, p.Y.Max+margin)
}

// scatter adds one marker at each point, as a series if it has a label.
func (p *Plot) scatter(label string, style draw.GlyphStyle, xys plotter.XYs) {
	if points, err := plotter.NewScatter(xys); p.can(label, err) {
		points.GlyphStyle = style
		p.series(label, valuesOf(xys), func() { p.Add(points) })
	}
}

// dot is a marker with a look of its own and perhaps a text beside it.
type dot struct {
	x, y  float64
	glyph draw.GlyphStyle
	text  string
	name  string // of its series
}

// dots adds dots, which do not widen the axes. A text stands on the side where there is more room.
func (p *Plot) dots(items ...dot) {
	p.sketch(func(c pen) {
		sty := textStyle(ink, tickSize)
		for _, it := range items {
			at := c.at(it.x, it.y)
			c.say(it.name, "%s", cmp.Or(it.text, fmt.Sprintf("%.4g, %.4g", it.x, it.y)))
			c.DrawGlyphNoClip(it.glyph, at)
			if it.text == "" {
				continue
			}
			left := at.X + vg.Points(7)
			if width := sty.Width(it.text); left+width > c.Max.X {
				left = at.X - vg.Points(7) - width
			}
			c.plate(sty, vg.Point{X: left, Y: at.Y + vg.Points(8)}, it.text)
		}
	})
}

// errorBars adds thin bars of a standard deviation to both sides, for which the axes make room.
func (p *Plot) errorBars(color tint, c curve) {
	var spread plotter.YErrors
	for _, at := range c {
		spread = append(spread, struct{ Low, High float64 }{at.std, at.std})
	}
	bars, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{c.means(), spread})
	if p.can("", err) {
		bars.LineStyle, bars.CapWidth = lineStyle(color, 0.9), 4
		p.Add(flush{bars})
	}
}

// flush bars may stand at the edge of the data, which keeps no room for them.
type flush struct{ *plotter.YErrorBars }

// GlyphBoxes has none.
func (flush) GlyphBoxes(*plot.Plot) []plot.GlyphBox { return nil }

// axes sets the ends of both axes.
func (p *Plot) axes(xmin, xmax, ymin, ymax float64) {
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = xmin, xmax, ymin, ymax
}

// rowY is where the row with number i of n stands, the first at the top.
func rowY(n, i int) float64 { return float64(n - 1 - i) }

// rowTicks name rows along a vertical axis.
func rowTicks(names []string) plot.ConstantTicks {
	ticks := placeTicks(names)
	for i := range ticks {
		ticks[i].Value = rowY(len(names), i)
	}
	return ticks
}

// placeTicks name the places 0, 1, 2 and so on.
func placeTicks(names []string) (ticks plot.ConstantTicks) {
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	return ticks
}

// rightRoom asks a plot for room on its right.
type rightRoom []vg.Length

// Plot draws nothing.
func (rightRoom) Plot(draw.Canvas, *plot.Plot) {}

// GlyphBoxes is the room.
func (r rightRoom) GlyphBoxes(*plot.Plot) (boxes []plot.GlyphBox) {
	for _, w := range r {
		boxes = append(boxes, plot.GlyphBox{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: w}}})
	}
	return boxes
}
