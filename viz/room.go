package viz

import (
	"slices"

	"gonum.org/v1/plot/vg"
)

// spanned is the rectangle of which two points are corners.
func spanned(a, b vg.Point) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: min(a.X, b.X), Y: min(a.Y, b.Y)}, Max: vg.Point{X: max(a.X, b.X), Y: max(a.Y, b.Y)}}
}

func square(at vg.Point, radius vg.Length) vg.Rectangle {
	r := vg.Point{X: radius, Y: radius}
	return vg.Rectangle{Min: at.Sub(r), Max: at.Add(r)}
}

// room finds a place inside a canvas for a name of some size beside a point: one that is free, or else, with free false, one
// that is not.
func room(inside vg.Rectangle, taken []vg.Rectangle, at, size vg.Point) (box vg.Rectangle, free bool) {
	const gap = vg.Length(4)
	w, h := size.X, size.Y
	box.Min = vg.Point{X: at.X + gap, Y: at.Y - h/2}
	if box.Min.X+w > inside.Max.X {
		box.Min.X = max(inside.Min.X, at.X-gap-w)
	}
	box.Max = box.Min.Add(size)
	for _, corner := range []vg.Point{
		{X: gap, Y: -h / 2}, {X: -gap - w, Y: -h / 2}, {X: -w / 2, Y: gap}, {X: -w / 2, Y: -gap - h},
		{X: gap, Y: gap / 4}, {X: gap, Y: -gap/4 - h}, {X: -gap - w, Y: gap / 4}, {X: -gap - w, Y: -gap/4 - h},
	} {
		low := at.Add(corner)
		b := vg.Rectangle{Min: low, Max: low.Add(size)}
		if b.Min.X < inside.Min.X || b.Max.X > inside.Max.X || b.Min.Y < inside.Min.Y || b.Max.Y > inside.Max.Y {
			continue
		}
		if !slices.ContainsFunc(taken, func(t vg.Rectangle) bool { return overlap(b, t) }) {
			return b, true
		}
	}
	return box, false
}

func overlap(a, b vg.Rectangle) bool {
	return a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y
}
