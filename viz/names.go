package viz

import (
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// PointLabel is a text near a point, joined to it by a thin line where it does not stand right
// beside it.
type PointLabel struct {
	At     vg.Point
	Text   string
	Style  text.Style
	Reach  vg.Length // how much further away than beside the point it may stand
	Must   bool      // it is written also where there is no room
	Series string    // the series that it belongs to
}

// DrawLabels writes labels where they cover neither each other nor what is taken. A label without
// room is left out unless it must be written.
func (c Pen) DrawLabels(taken []vg.Rectangle, labels ...PointLabel) {
	for _, n := range labels {
		box, free := room(c.Rectangle, taken, n.At, n.Style.Rectangle(n.Text).Size(), n.Reach)
		if !free && !n.Must {
			continue
		}
		c.Describe(n.Series, "")
		end := nearest(box, n.At)
		if d := end.Sub(n.At); d.Dot(d) > 64 {
			c.DrawSegment(lineStyle(Muted, 0.5), n.At, end)
		}
		c.DrawText(n.Style, vg.Point{X: box.Min.X, Y: (box.Min.Y + box.Max.Y) / 2}, n.Text)
		box.Max.X += 2 // so that two texts do not read as one
		taken = append(taken, box)
	}
}

// room finds a place inside a canvas for a name of some size near a point: the nearest one that is
// free and at most reach further away than beside the point, or else, with free false, one that is
// not.
func room(inside vg.Rectangle, taken []vg.Rectangle, at, size vg.Point, reach vg.Length) (box vg.Rectangle, free bool) {
	const gap, ring = vg.Length(4), vg.Length(6)
	for distance := gap; distance <= gap+reach; distance += ring {
		places := nameCorners(size, distance, distance/4)
		if distance > gap {
			places = append(nameCorners(size, distance, distance), vg.Point{X: 0, Y: distance},
				vg.Point{X: -size.X, Y: distance})
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

// nameCorners lists the lower left corners of a name at eight places around a point. The four
// diagonal ones are up or down by rise.
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
