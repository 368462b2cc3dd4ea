package viz

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// arrows draws vectors from one origin, all in one scale, so that lengths and angles can be compared. The
// scale is the largest at which the ranges of the plot's axes fit.
type arrows struct {
	theme  *Theme
	items  []arrow
	axis   arrow // of the items the one along which the tips of the others have to reach their floors
	floors []floor
}

type arrow struct {
	x, y  float64
	color color.NRGBA
	text  string
}

// floor is how far along the axis the tip of an arrow has to reach.
type floor struct {
	arrow int
	at    float64
}

func (a *arrows) Plot(canvas draw.Canvas, p *plot.Plot) {
	c, sty := pen{Canvas: canvas, theme: a.theme}, a.theme.text(a.theme.Ink, tickSize)
	var widest vg.Length
	for _, it := range a.items {
		widest = max(widest, sty.Width(it.text))
	}
	at := scaled(draw.Crop(canvas, 0, -widest-vg.Points(8), vg.Points(10), -vg.Points(10)), p)
	zero := at(0, 0)
	for _, f := range a.floors {
		a.floor(c, at, f)
	}
	c.arrow(zero, at(a.axis.x, a.axis.y), a.axis.color, 4) // broad and below, so that one on it is seen
	for _, it := range a.items {
		if it != a.axis {
			c.arrow(zero, at(it.x, it.y), it.color, 2)
		}
	}
	for i, left := range a.names(canvas, at) {
		c.plate(sty, left, a.items[i].text)
	}
}

// reach returns where on the axis a floor begins, the place beside the tip that it passes, and how far the
// tip lies beyond it.
func (a *arrows) reach(f floor) (footX, footY, besideX, besideY, beyond float64) {
	tip := a.items[f.arrow]
	length := math.Hypot(a.axis.x, a.axis.y)
	ux, uy := a.axis.x/length, a.axis.y/length
	beyond = tip.x*ux + tip.y*uy - f.at
	return f.at * ux, f.at * uy, tip.x - beyond*ux, tip.y - beyond*uy, beyond
}

// floor draws the dashed line that a tip has to reach, from the axis to beside the tip, and what the tip
// has beyond it, the slack, as a broad pale line.
func (a *arrows) floor(c pen, at func(x, y float64) vg.Point, f floor) {
	tip := a.items[f.arrow]
	fx, fy, bx, by, beyond := a.reach(f)
	foot, beside := at(fx, fy), at(bx, by)
	if beyond > 1e-6*math.Hypot(a.axis.x, a.axis.y) {
		c.stroke(a.theme.line(pale(tip.color), 6), beside, at(tip.x, tip.y))
	}
	// A little beyond both, so that the crossing shows.
	d := beside.Sub(foot)
	if l := math.Hypot(float64(d.X), float64(d.Y)); l > 0 {
		more := d.Scale(vg.Length(5 / l))
		foot, beside = foot.Sub(more), beside.Add(more)
	}
	c.stroke(a.theme.line(tip.color, 1, 3, 2), foot, beside)
}

func pale(c color.NRGBA) color.NRGBA {
	c.A = 110
	return c
}

// scaled returns where a place of the plot's axes lies on the canvas, in one scale for both axes.
func scaled(c draw.Canvas, p *plot.Plot) func(x, y float64) vg.Point {
	size, mid := c.Size(), c.Center()
	unit := min(size.X/vg.Length(p.X.Max-p.X.Min), size.Y/vg.Length(p.Y.Max-p.Y.Min))
	return func(x, y float64) vg.Point {
		return vg.Point{
			X: mid.X + unit*vg.Length(x-(p.X.Min+p.X.Max)/2),
			Y: mid.Y + unit*vg.Length(y-(p.Y.Min+p.Y.Max)/2),
		}
	}
}

// DataRange is the smallest box that holds the arrows and their floors.
func (a *arrows) DataRange() (xmin, xmax, ymin, ymax float64) {
	add := func(x, y float64) {
		xmin, xmax, ymin, ymax = min(xmin, x), max(xmax, x), min(ymin, y), max(ymax, y)
	}
	for _, it := range a.items {
		add(it.x, it.y)
	}
	for _, f := range a.floors {
		fx, fy, bx, by, _ := a.reach(f)
		add(fx, fy)
		add(bx, by)
	}
	return xmin, xmax, ymin, ymax
}

func (c pen) arrow(from, to vg.Point, color color.NRGBA, width float64) {
	d := to.Sub(from)
	length := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
	if length == 0 {
		return
	}
	u := vg.Point{X: d.X / length, Y: d.Y / length}
	head := min(vg.Points(5+width), length)
	neck := to.Sub(u.Scale(head))
	side := vg.Point{X: -u.Y, Y: u.X}.Scale(head*0.3 + vg.Points(width/3))
	c.stroke(c.theme.line(color, width), from, neck)
	c.FillPolygon(color, []vg.Point{to, neck.Add(side), neck.Sub(side)})
}
