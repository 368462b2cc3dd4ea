package viz

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// verticals marks steps by thin lines over the whole height, each with a label at its top.
type verticals struct {
	theme *Theme
	marks []vertical
}

type vertical struct {
	x     float64
	label string
}

func (v *verticals) Plot(c draw.Canvas, p *plot.Plot) {
	trX, _ := p.Transforms(&c)
	for _, m := range v.marks {
		if x := trX(m.x); c.ContainsX(x) {
			c.StrokeLine2(v.theme.line(v.theme.Muted, 0.5, 2, 2), x, c.Min.Y, x, c.Max.Y)
		}
	}
	sty := v.theme.text(v.theme.Muted, tickSize)
	for _, l := range v.labels(c, trX, sty.Width) {
		v.theme.platedIn(sty, c, vg.Point{X: l.x, Y: c.Max.Y - vg.Points(5)}, l.text)
	}
}

// placed is a text and where it begins.
type placed struct {
	x    vg.Length
	text string
}

// labels places the marks' labels. One that the label before leaves no room for joins it: "2, 3".
func (v *verticals) labels(c draw.Canvas, trX func(float64) vg.Length, width func(string) vg.Length) []placed {
	var out []placed
	for _, m := range v.marks {
		at := trX(m.x) + vg.Points(2)
		if !c.ContainsX(at) || m.label == "" {
			continue
		}
		if n := len(out) - 1; n >= 0 && at < out[n].x+width(out[n].text)+vg.Points(2) {
			out[n].text += ", " + m.label
			continue
		}
		out = append(out, placed{at, m.label})
	}
	return out
}

// errorBars are thin bars from low to high.
type errorBars struct {
	color     color.NRGBA
	low, high plotter.XYs
}

func (e *errorBars) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	style := draw.LineStyle{Color: e.color, Width: vg.Points(0.9)}
	for i := range e.low {
		x, low, high := trX(e.low[i].X), trY(e.low[i].Y), trY(e.high[i].Y)
		c.StrokeLines(style, c.ClipLinesXY([]vg.Point{{X: x, Y: low}, {X: x, Y: high}})...)
		for _, y := range []vg.Length{low, high} {
			c.StrokeLines(style, c.ClipLinesXY([]vg.Point{{X: x - 2, Y: y}, {X: x + 2, Y: y}})...)
		}
	}
}

// DataRange makes room for the bars.
func (e *errorBars) DataRange() (xmin, xmax, ymin, ymax float64) {
	return plotter.XYRange(append(slices.Clone(e.low), e.high...))
}

// plated writes a text from its left middle on, with a plate behind it that keeps what lies there from
// running through it.
func (t *Theme) plated(c draw.Canvas, at vg.Point, text string) {
	t.platedIn(t.text(t.Ink, tickSize), c, at, text)
}

func (t *Theme) platedIn(sty text.Style, c draw.Canvas, at vg.Point, text string) {
	back := t.Background
	back.A = 215
	c.SetColor(back)
	c.Fill(sty.Rectangle(text).Add(at).Path())
	at.Y += lift
	c.FillText(sty, at, text)
}

// horizontals returns grid lines at the ticks of the vertical axis.
func (t *Theme) horizontals() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color = nil
	g.Horizontal = t.line(t.Grid, 0.5)
	return g
}

// band fills the area between low and high.
func (t *Theme) band(low, high plotter.XYs, s Style) (*plotter.Polygon, error) {
	around := append(plotter.XYs{}, high...)
	for i := len(low) - 1; i >= 0; i-- {
		around = append(around, low[i])
	}
	poly, err := plotter.NewPolygon(around)
	if err != nil {
		return nil, err
	}
	// A mixed opaque colour would hide the lines below; a see-through one does not.
	fill := s.color()
	fill.A = 50
	poly.Color = fill
	poly.LineStyle.Width = 0
	return poly, nil
}
