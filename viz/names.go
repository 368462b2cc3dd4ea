package viz

import (
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

// names are where the arrows' names begin: beside the tips, where they cover neither lines nor other names.
func (a *arrows) names(c draw.Canvas, at func(x, y float64) vg.Point) (begin []vg.Point) {
	sty, taken := textStyle(ink, tickSize), a.taken(at)
	for _, it := range a.items {
		box, _ := room(c.Rectangle, taken, at(it.x, it.y), sty.Rectangle(it.text).Size(), 40)
		begin, taken = append(begin, vg.Point{X: box.Min.X, Y: (box.Min.Y + box.Max.Y) / 2}), append(taken, box)
	}
	return begin
}

// taken are small squares along the arrows and the floors, closer to each other than a name is high.
func (a *arrows) taken(at func(x, y float64) vg.Point) (squares []vg.Rectangle) {
	add := func(from, to vg.Point) {
		for k := range 51 {
			squares = append(squares, square(from.Add(to.Sub(from).Scale(vg.Length(k)/50)), 2))
		}
	}
	for _, it := range a.items {
		add(at(0, 0), at(it.x, it.y))
	}
	for _, f := range a.floors {
		add(at(f.foot.X, f.foot.Y), at(f.beside.X, f.beside.Y))
	}
	return squares
}
