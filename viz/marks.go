package viz

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
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
	sty := v.theme.text(v.theme.Muted, tickSize-1)
	free := c.Min.X
	for _, m := range v.marks {
		x := trX(m.x)
		if !c.ContainsX(x) {
			continue
		}
		c.StrokeLine2(v.theme.line(v.theme.Muted, 0.5, 2, 2), x, c.Min.Y, x, c.Max.Y)
		if at := x + vg.Points(2); at >= free {
			c.FillText(sty, vg.Point{X: at, Y: c.Max.Y - vg.Points(4)}, m.label)
			free = at + sty.Width(m.label) + vg.Points(2)
		}
	}
}

// plated writes a text from its left middle on, with a plate behind it that keeps what lies there from
// running through it.
func (t *Theme) plated(c draw.Canvas, at vg.Point, text string) {
	sty := t.text(t.Ink, tickSize)
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
	fill := s.Color
	fill.A = 50
	poly.Color = fill
	poly.LineStyle.Width = 0
	return poly, nil
}
