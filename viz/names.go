package viz

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// spanned is the rectangle of which two points are corners.
func spanned(a, b vg.Point) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: min(a.X, b.X), Y: min(a.Y, b.Y)}, Max: vg.Point{X: max(a.X, b.X), Y: max(a.Y, b.Y)}}
}

func square(at vg.Point, radius vg.Length) vg.Rectangle {
	r := vg.Point{X: radius, Y: radius}
	return vg.Rectangle{Min: at.Sub(r), Max: at.Add(r)}
}

// room finds a place inside a canvas for a name of some size near a point: the nearest one that is free and at most reach
// further away than beside the point, or else, with free false, one that is not.
func room(inside vg.Rectangle, taken []vg.Rectangle, at, size vg.Point, reach vg.Length) (box vg.Rectangle, free bool) {
	const gap, ring = vg.Length(4), vg.Length(6)
	for distance := gap; distance <= gap+reach; distance += ring {
		places := nameCorners(size, distance, distance/4)
		if distance > gap {
			places = append(nameCorners(size, distance, distance), vg.Point{X: 0, Y: distance}, vg.Point{X: -size.X, Y: distance})
		}
		for _, corner := range places {
			low := at.Add(corner)
			b := vg.Rectangle{Min: low, Max: low.Add(size)}
			if within(b, inside) && !slices.ContainsFunc(taken, func(t vg.Rectangle) bool { return overlap(b, t) }) {
				return b, true
			}
		}
	}
	box.Min = vg.Point{X: at.X + gap, Y: at.Y - size.Y/2}
	if box.Min.X+size.X > inside.Max.X {
		box.Min.X = max(inside.Min.X, at.X-gap-size.X)
	}
	box.Max = box.Min.Add(size)
	return box, false
}

// nameCorners lists the lower left corners of a name at eight places around a point. The four diagonal ones are up or down
// by rise.
func nameCorners(size vg.Point, distance, rise vg.Length) []vg.Point {
	w, h := size.X, size.Y
	return []vg.Point{
		{X: distance, Y: -h / 2}, {X: -distance - w, Y: -h / 2}, {X: -w / 2, Y: distance}, {X: -w / 2, Y: -distance - h},
		{X: distance, Y: rise}, {X: distance, Y: -rise - h}, {X: -distance - w, Y: rise}, {X: -distance - w, Y: -rise - h},
	}
}

func within(b, outer vg.Rectangle) bool {
	return b.Min.X >= outer.Min.X && b.Max.X <= outer.Max.X && b.Min.Y >= outer.Min.Y && b.Max.Y <= outer.Max.Y
}

// nearest is the point of a rectangle that is nearest to another point.
func nearest(box vg.Rectangle, to vg.Point) vg.Point {
	return vg.Point{X: min(max(to.X, box.Min.X), box.Max.X), Y: min(max(to.Y, box.Min.Y), box.Max.Y)}
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}

// names are where the arrows' names begin: beside the tips, where they cover no other name and as few lines as
// can be.
func (a *arrows) names(c draw.Canvas, at func(x, y float64) vg.Point) (begin []vg.Point) {
	lines := a.lines(at)
	sty := a.theme.text(a.theme.Ink, tickSize)
	var taken []vg.Rectangle
	for _, it := range a.items {
		var best vg.Point
		var room vg.Rectangle
		least := math.MaxInt
		for _, left := range besideTip(at(it.x, it.y), sty.Width(it.text)) {
			box := nameBox(left, sty.Width(it.text))
			if cost := covers(c, box, lines, taken); cost < least {
				best, room, least = left, box, cost
			}
		}
		begin, taken = append(begin, best), append(taken, room)
	}
	return begin
}

// lines are the shafts of the arrows and the floors, each by its two ends.
func (a *arrows) lines(at func(x, y float64) vg.Point) (lines [][2]vg.Point) {
	for _, it := range a.items {
		lines = append(lines, [2]vg.Point{at(0, 0), at(it.x, it.y)})
	}
	for _, f := range a.floors {
		lines = append(lines, [2]vg.Point{at(f.foot.X, f.foot.Y), at(f.beside.X, f.beside.Y)})
	}
	return lines
}

const nameHeight = vg.Length(tickSize * 1.2)

// besideTip are the places where a name may begin, the best first: on the right of the tip, above and below it,
// and on its left.
func besideTip(tip vg.Point, wide vg.Length) []vg.Point {
	const gap = vg.Length(7)
	var out []vg.Point
	for _, off := range []vg.Point{
		{X: gap}, {X: gap, Y: nameHeight}, {X: gap, Y: -nameHeight},
		{X: -wide / 2, Y: nameHeight + gap/2}, {X: -wide / 2, Y: -nameHeight - gap/2},
		{X: -gap - wide}, {X: -gap - wide, Y: nameHeight}, {X: -gap - wide, Y: -nameHeight},
	} {
		out = append(out, tip.Add(off))
	}
	return out
}

// nameBox is the room of a name that begins at its left middle, and a little more around it.
func nameBox(left vg.Point, wide vg.Length) vg.Rectangle {
	return vg.Rectangle{
		Min: left.Sub(vg.Point{X: 2, Y: nameHeight/2 + 1}),
		Max: left.Add(vg.Point{X: wide + 2, Y: nameHeight/2 + 1}),
	}
}

// covers says how bad a place for a name is: 1 for each line that it covers, and more than all of them for each
// other name and for the edge of the canvas.
func covers(c draw.Canvas, box vg.Rectangle, lines [][2]vg.Point, taken []vg.Rectangle) int {
	cost := 0
	for _, l := range lines {
		for k := range 101 { // points of the line, nearer to each other than a name is high
			p := l[0].Add(l[1].Sub(l[0]).Scale(vg.Length(k) / 100))
			if p.X > box.Min.X && p.X < box.Max.X && p.Y > box.Min.Y && p.Y < box.Max.Y {
				cost++
				break
			}
		}
	}
	for _, t := range taken {
		if overlap(box, t) {
			cost += 1 + len(lines)
		}
	}
	if !within(box, c.Rectangle) {
		cost += 1 + len(lines)
	}
	return cost
}
