package viz

import (
	"slices"

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
	sketch{v.theme, func(c pen) {
		for _, m := range v.marks {
			if x := c.x(m.x); c.ContainsX(x) {
				c.StrokeLine2(v.theme.taskEnd(), x, c.Min.Y, x, c.Max.Y)
			}
		}
		sty := v.theme.text(v.theme.Muted, tickSize)
		for _, l := range v.labels(c.Canvas, c.x, sty.Width) {
			c.plate(sty, vg.Point{X: l.x, Y: c.Max.Y - vg.Points(5)}, l.text)
		}
	}}.Plot(c, p)
}

// taskEnd is the line of a mark.
func (t *Theme) taskEnd() draw.LineStyle { return t.line(t.Muted, 0.5, 2, 2) }

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

// horizontals returns grid lines at the ticks of the vertical axis.
func (t *Theme) horizontals() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color = nil
	g.Horizontal = t.line(t.Grid, 0.5)
	return g
}

// band fills the area between low and high.
func (p *Plot) band(low, high plotter.XYs, s Style) {
	around := slices.Clone(high)
	for _, xy := range slices.Backward(low) {
		around = append(around, xy)
	}
	poly, err := plotter.NewPolygon(around)
	if err != nil {
		p.fail("", err)
		return
	}
	// A mixed opaque colour would hide the lines below; a see-through one does not.
	fill := s.Color
	fill.A = 50
	poly.Color = fill
	poly.LineStyle.Width = 0
	p.Add(poly)
}
