package viz

import (
	"errors"
	"slices"

	"gonum.org/v1/plot"
)

// SameAxes gives figures of one kind, the frames of a slider say, the same axes: each plot's range becomes
// the union of the ranges of all plots in its place. Maps are left out, since their scale has no meaning.
// From one frame to the next, what does not change then stays in place, and what changes can be compared.
func SameAxes(figures ...*Figure) error {
	if len(figures) == 0 {
		return nil
	}
	for _, f := range figures {
		if f == nil {
			return errors.New("viz: one of the figures is nil")
		}
		if err := f.check(); err != nil {
			return err
		}
	}
	for _, f := range figures {
		if !sameLayout(f, figures[0]) {
			return errors.New("viz: the figures differ in their plots' number or places; only those of one kind can share axes")
		}
	}
	for i, row := range figures[0].Rows {
		for j := range row {
			var x, y []*plot.Axis
			for _, f := range figures {
				p := f.Rows[i][j]
				if slices.Contains(f.free, p) {
					continue
				}
				x, y = append(x, &p.X), append(y, &p.Y)
			}
			unite(x)
			unite(y)
		}
	}
	return nil
}

func sameLayout(a, b *Figure) bool {
	if len(a.Rows) != len(b.Rows) {
		return false
	}
	for i := range a.Rows {
		if len(a.Rows[i]) != len(b.Rows[i]) {
			return false
		}
	}
	return true
}

func unite(axes []*plot.Axis) {
	if len(axes) == 0 {
		return
	}
	low, high := axes[0].Min, axes[0].Max
	for _, a := range axes {
		low, high = min(low, a.Min), max(high, a.Max)
	}
	for _, a := range axes {
		a.Min, a.Max = low, high
	}
}
