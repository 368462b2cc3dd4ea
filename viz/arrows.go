package viz

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// arrows draws vectors from one origin, all in one scale, so that lengths and angles can be compared.
// It does not heed the plot's axes.
type arrows struct {
	theme  *Theme
	items  []arrow
	floors []arrow // dashed lines across the horizontal axis at their x
}

type arrow struct {
	x, y  float64
	color color.NRGBA
	text  string
}

func (a *arrows) Plot(c draw.Canvas, _ *plot.Plot) {
	sty := a.theme.text(a.theme.Ink, tickSize)
	var widest vg.Length
	for _, it := range a.items {
		widest = max(widest, sty.Width(it.text))
	}
	at, unit := a.place(draw.Crop(c, 0, -widest-vg.Points(8), vg.Points(10), -vg.Points(10)))
	zero := at(arrow{})
	c.StrokeLine2(a.theme.line(a.theme.Grid, 1), c.Min.X, zero.Y, c.Max.X, zero.Y)
	half := max(unit*vg.Length(a.reach())*0.2, vg.Points(10))
	for _, f := range a.floors {
		p := at(f)
		c.StrokeLine2(a.theme.line(f.color, 1, 3, 2), p.X, p.Y-half, p.X, p.Y+half)
	}
	for _, it := range a.items {
		a.draw(c, zero, at(it), it.color)
	}
	ys := make([]vg.Length, 0, len(a.items))
	for _, it := range a.items {
		tip := at(it)
		y := clear(tip.Y, ys)
		ys = append(ys, y)
		a.theme.plated(c, vg.Point{X: tip.X + vg.Points(7), Y: y}, it.text)
	}
}

// clear moves y up or down to where it is a line away from those taken.
func clear(y vg.Length, taken []vg.Length) vg.Length {
	line := vg.Points(tickSize * 1.2)
	for k := range 2 * len(taken) {
		for _, at := range []vg.Length{y + vg.Length(k)*line/2, y - vg.Length(k)*line/2} {
			free := true
			for _, other := range taken {
				free = free && math.Abs(float64(at-other)) >= float64(line)
			}
			if free {
				return at
			}
		}
	}
	return y
}

// place returns where vectors end on the canvas, and how long a unit is.
func (a *arrows) place(c draw.Canvas) (func(arrow) vg.Point, vg.Length) {
	var left, right, down, up float64
	for _, it := range append(a.items, a.floors...) {
		left, right, down, up = min(left, it.x), max(right, it.x), min(down, it.y), max(up, it.y)
	}
	size := c.Size()
	unit := vg.Length(math.Inf(1))
	if right > left {
		unit = size.X / vg.Length(right-left)
	}
	if up > down {
		unit = min(unit, size.Y/vg.Length(up-down))
	}
	mid := c.Center()
	return func(v arrow) vg.Point {
		return vg.Point{
			X: mid.X + unit*vg.Length(v.x-(left+right)/2),
			Y: mid.Y + unit*vg.Length(v.y-(down+up)/2),
		}
	}, unit
}

// reach is the length of the longest vector.
func (a *arrows) reach() float64 {
	longest := 0.0
	for _, it := range a.items {
		longest = max(longest, math.Hypot(it.x, it.y))
	}
	return longest
}

func (a *arrows) draw(c draw.Canvas, from, to vg.Point, color color.NRGBA) {
	d := to.Sub(from)
	length := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
	if length == 0 {
		return
	}
	u := vg.Point{X: d.X / length, Y: d.Y / length}
	head := min(vg.Points(7), length)
	neck := to.Sub(u.Scale(head))
	side := vg.Point{X: -u.Y, Y: u.X}.Scale(head * 0.4)
	c.StrokeLine2(a.theme.line(color, 2), from.X, from.Y, neck.X, neck.Y)
	c.FillPolygon(color, []vg.Point{to, neck.Add(side), neck.Sub(side)})
}

// strokes marks a place in each row of bars by a thick stroke.
type strokes struct {
	theme *Theme
	bars  *bars
	at    []float64
}

func (s *strokes) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	for i, x := range s.at {
		c.StrokeLine2(s.theme.line(s.theme.Ink, 2), trX(x), trY(s.bars.y(i)-0.36), trX(x), trY(s.bars.y(i)+0.36))
	}
}
