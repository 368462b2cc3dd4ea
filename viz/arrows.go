package viz

import (
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

type arrow struct {
	x, y  float64
	color Color
	text  string
	floor float64 // how far along d its tip has to reach
}

// addArrows draws vectors and d from one origin, all in one scale, so that lengths and angles can
// be compared. The scale is the largest at which the ranges of the plot's axes fit. A dashed line
// says how far along d a tip has to reach, and a broad pale one what the tip has beyond it, the
// slack.
func addArrows(p *Plot, d arrow, items ...arrow) {
	length := math.Hypot(d.x, d.y)
	ux, uy := d.x/length, d.y/length
	all := append(items, d)
	var floors, lines [][2]plotter.XY // floors are from their feet on d to beside the tips
	for _, it := range items {
		beyond := it.x*ux + it.y*uy - it.floor
		floors = append(floors, [2]plotter.XY{{X: it.floor * ux, Y: it.floor * uy},
			{X: it.x - beyond*ux, Y: it.y - beyond*uy}})
	}
	for _, it := range all {
		lines = append(lines, [2]plotter.XY{{}, {X: it.x, Y: it.y}})
	}
	lines = append(lines, floors...)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 0, 0, 0
	for _, l := range lines {
		for _, end := range l {
			p.X.Min, p.X.Max = min(p.X.Min, end.X), max(p.X.Max, end.X)
			p.Y.Min, p.Y.Max = min(p.Y.Min, end.Y), max(p.Y.Max, end.Y)
		}
	}
	p.Add(Sketch(func(c Pen) {
		sty := TextStyle(Ink)
		var widest vg.Length
		for _, it := range all {
			widest = max(widest, sty.Width(it.text))
		}
		at := scaled(draw.Crop(c.Canvas, 0, -widest-vg.Points(8), vg.Points(10), -vg.Points(10)), p.X.Min, p.X.Max,
			p.Y.Min, p.Y.Max)
		for i, it := range items {
			drawFloor(c, at(floors[i][0]), at(floors[i][1]), at(plotter.XY{X: it.x, Y: it.y}), it.color)
		}
		// broad and below, so that one on it is seen
		drawArrow(c, at(plotter.XY{}), at(plotter.XY{X: d.x, Y: d.y}), d.color, 4)
		for _, it := range items {
			drawArrow(c, at(plotter.XY{}), at(plotter.XY{X: it.x, Y: it.y}), it.color, 2)
		}
		var names []PointLabel
		for _, it := range all {
			names = append(names, PointLabel{At: at(plotter.XY{X: it.x, Y: it.y}), Text: it.text, Style: sty, Reach: 40,
				Must: true})
		}
		var taken []vg.Rectangle // small squares along all lines, closer to each other than a name is high
		for _, l := range lines {
			from, to := at(l[0]), at(l[1])
			for k := range 51 {
				taken = append(taken, square(from.Add(to.Sub(from).Scale(vg.Length(k)/50)), 2))
			}
		}
		c.DrawLabels(taken, names...)
	}))
}

// drawFloor draws a dashed line from a foot to beside a tip, a little beyond both, so that the
// crossing shows, and the slack.
func drawFloor(c Pen, foot, beside, tip vg.Point, color Color) {
	c.DrawSegment(lineStyle(pale(color), 6), beside, tip)
	d := beside.Sub(foot)
	if l := math.Hypot(float64(d.X), float64(d.Y)); l > 0 {
		more := d.Scale(vg.Length(5 / l))
		foot, beside = foot.Sub(more), beside.Add(more)
	}
	c.DrawSegment(lineStyle(color, 1, 3, 2), foot, beside)
}

func pale(c Color) Color { return c.Alpha(110) }

// scaled returns where a place in some ranges lies on the canvas, in one scale for both axes.
func scaled(c draw.Canvas, xmin, xmax, ymin, ymax float64) func(plotter.XY) vg.Point {
	size, mid := c.Size(), c.Center()
	unit := min(size.X/vg.Length(xmax-xmin), size.Y/vg.Length(ymax-ymin))
	return func(at plotter.XY) vg.Point {
		return vg.Point{X: mid.X + unit*vg.Length(at.X-(xmin+xmax)/2), Y: mid.Y + unit*vg.Length(at.Y-(ymin+ymax)/2)}
	}
}

func drawArrow(c Pen, from, to vg.Point, color Color, width float64) {
	d := to.Sub(from)
	length := vg.Length(math.Hypot(float64(d.X), float64(d.Y)))
	if length == 0 {
		return
	}
	u := vg.Point{X: d.X / length, Y: d.Y / length}
	head := min(vg.Points(5+width), length)
	neck := to.Sub(u.Scale(head))
	side := vg.Point{X: -u.Y, Y: u.X}.Scale(head*0.3 + vg.Points(width/3))
	c.DrawSegment(lineStyle(color, width), from, neck)
	c.FillPolygon(color, []vg.Point{to, neck.Add(side), neck.Sub(side)})
}
