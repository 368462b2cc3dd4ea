package viz

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// arrows draws vectors from one origin, all in one scale, so that lengths and angles can be compared. The
// scale is the largest at which the ranges of the plot's axes fit.
type arrows struct {
	items  []arrow
	axis   arrow // of the items the one along which the tips of the others have to reach their floors
	floors []floor
}

type arrow struct {
	x, y  float64
	color tint
	text  string
}

// floor is the line that a tip has to reach, from the axis to beside the tip.
type floor struct {
	foot, beside plotter.XY
	tip          arrow
	slack        bool // the tip lies beyond it
}

// floorOf is the floor of a tip that has to reach so far along the axis.
func (a *arrows) floorOf(tip arrow, at float64) floor {
	length := math.Hypot(a.axis.x, a.axis.y)
	ux, uy := a.axis.x/length, a.axis.y/length
	beyond := tip.x*ux + tip.y*uy - at
	return floor{plotter.XY{X: at * ux, Y: at * uy}, plotter.XY{X: tip.x - beyond*ux, Y: tip.y - beyond*uy}, tip, beyond > 1e-6*length}
}

func (a *arrows) Plot(canvas draw.Canvas, p *plot.Plot) {
	c, sty := pen{Canvas: canvas}, textStyle(ink, tickSize)
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
	var names []name
	for _, it := range a.items {
		names = append(names, name{at: at(it.x, it.y), text: it.text, style: sty, reach: 40, must: true})
	}
	c.names(a.taken(at), names...)
}

// floor draws a floor as a dashed line, and what the tip has beyond it, the slack, as a broad pale one.
func (a *arrows) floor(c pen, at func(x, y float64) vg.Point, f floor) {
	foot, beside := at(f.foot.X, f.foot.Y), at(f.beside.X, f.beside.Y)
	if f.slack {
		c.stroke(lineStyle(pale(f.tip.color), 6), beside, at(f.tip.x, f.tip.y))
	}
	// A little beyond both, so that the crossing shows.
	d := beside.Sub(foot)
	if l := math.Hypot(float64(d.X), float64(d.Y)); l > 0 {
		more := d.Scale(vg.Length(5 / l))
		foot, beside = foot.Sub(more), beside.Add(more)
	}
	c.stroke(lineStyle(f.tip.color, 1, 3, 2), foot, beside)
}

func pale(c tint) tint { return opaque(c, 110) }

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

// lines are the arrows and the floors, from one end to the other.
func (a *arrows) lines() (out [][2]plotter.XY) {
	for _, it := range a.items {
		out = append(out, [2]plotter.XY{{}, {X: it.x, Y: it.y}})
	}
	for _, f := range a.floors {
		out = append(out, [2]plotter.XY{f.foot, f.beside})
	}
	return out
}

// DataRange is the smallest box that holds all lines.
func (a *arrows) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, l := range a.lines() {
		for _, end := range l {
			xmin, xmax, ymin, ymax = min(xmin, end.X), max(xmax, end.X), min(ymin, end.Y), max(ymax, end.Y)
		}
	}
	return xmin, xmax, ymin, ymax
}

// taken are small squares along all lines, closer to each other than a name is high.
func (a *arrows) taken(at func(x, y float64) vg.Point) (squares []vg.Rectangle) {
	for _, l := range a.lines() {
		from, to := at(l[0].X, l[0].Y), at(l[1].X, l[1].Y)
		for k := range 51 {
			squares = append(squares, square(from.Add(to.Sub(from).Scale(vg.Length(k)/50)), 2))
		}
	}
	return squares
}

func (c pen) arrow(from, to vg.Point, color tint, width float64) {
	d := to.Sub(from)
	length := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
	if length == 0 {
		return
	}
	u := vg.Point{X: d.X / length, Y: d.Y / length}
	head := min(vg.Points(5+width), length)
	neck := to.Sub(u.Scale(head))
	side := vg.Point{X: -u.Y, Y: u.X}.Scale(head*0.3 + vg.Points(width/3))
	c.stroke(lineStyle(color, width), from, neck)
	c.FillPolygon(color, []vg.Point{to, neck.Add(side), neck.Sub(side)})
}
