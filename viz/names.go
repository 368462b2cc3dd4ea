package viz

import (
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// name is a text near a point, which it is joined to by a thin line where it is not beside it.
type name struct {
	at    vg.Point
	text  string
	style text.Style
	reach vg.Length // how much further away than beside the point it may be
	must  bool      // it is written also where there is no room
	say   string    // the series that it belongs to
}

// names writes texts where they cover neither each other nor what is taken.
func (c pen) names(taken []vg.Rectangle, all ...name) {
	for _, n := range all {
		box, free := room(c.Rectangle, taken, n.at, n.style.Rectangle(n.text).Size(), n.reach)
		if !free && !n.must {
			continue
		}
		c.say(n.say, "")
		end := nearest(box, n.at)
		if d := end.Sub(n.at); d.Dot(d) > 64 {
			c.stroke(lineStyle(muted, 0.5), n.at, end)
		}
		c.plate(n.style, vg.Point{X: box.Min.X, Y: (box.Min.Y + box.Max.Y) / 2}, n.text)
		taken = append(taken, box)
	}
}

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
