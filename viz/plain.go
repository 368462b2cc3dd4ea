package viz

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// This file has short forms and geometry that need no type of the package; plotters and figures
// share them.

func lineStyle(c color.Color, width float64, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(width), Dashes: dashes}
}

func last[T any](list []T) *T { return &list[len(list)-1] }

// each has a number of each entry of a list.
func each[T any](list []T, number func(T) float64) (out []float64) {
	for _, it := range list {
		out = append(out, number(it))
	}
	return out
}

// entry returns an entry of a list that may be shorter.
func entry(list []float64, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// around is the range of values with a margin: a share of the range, and at least so much.
func around(share, least float64, values ...float64) (low, high float64) {
	low, high = slices.Min(values), slices.Max(values)
	margin := max(least, share*(high-low))
	return low - margin, high + margin
}

// spanned is the rectangle of which two points are corners.
func spanned(a, b vg.Point) vg.Rectangle {
	return vg.Rectangle{
		Min: vg.Point{X: min(a.X, b.X), Y: min(a.Y, b.Y)},
		Max: vg.Point{X: max(a.X, b.X), Y: max(a.Y, b.Y)},
	}
}

func square(at vg.Point, radius vg.Length) vg.Rectangle {
	r := vg.Point{X: radius, Y: radius}
	return vg.Rectangle{Min: at.Sub(r), Max: at.Add(r)}
}

// moveApart moves sorted positions at least gap apart, inside [low, high] if they all fit.
func moveApart(ys []vg.Length, gap, low, high vg.Length) {
	for i := 1; i < len(ys); i++ {
		ys[i] = max(ys[i], ys[i-1]+gap)
	}
	limit := high
	for i := len(ys) - 1; i >= 0; i-- {
		ys[i] = min(ys[i], limit)
		limit = ys[i] - gap
	}
	limit = low
	for i := range ys {
		ys[i] = max(ys[i], limit)
		limit = ys[i] + gap
	}
}

// withoutLabels keeps the tick marks where the plot below names them.
type withoutLabels struct{ plot.Ticker }

func (w withoutLabels) Ticks(lo, hi float64) []plot.Tick {
	ticks := w.Ticker.Ticks(lo, hi)
	for i := range ticks {
		ticks[i].Label = ""
	}
	return ticks
}

// sameAxis gives an axis of plots the same ends.
func sameAxis(plots []*plot.Plot, axis func(*plot.Plot) *plot.Axis) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range plots {
		low, high = min(low, axis(p).Min), max(high, axis(p).Max)
	}
	for _, p := range plots {
		axis(p).Min, axis(p).Max = low, high
	}
}
