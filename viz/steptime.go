package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// StepTime is where the time of one training step goes.
type StepTime struct {
	Label string // for example the method
	Parts []TimePart
}

// TimePart is a named piece of a step.
type TimePart struct {
	Name   string
	Millis float64
}

// StepTimes draws where the time of training steps goes. It must show what a method costs in total and what
// each part of a step costs, even the smallest. On the left is a stacked bar for each row, in milliseconds,
// with the total at its end; on the right each part by itself on a logarithmic axis, on which a microsecond
// is visible next to a millisecond. A part has one colour and marker in all rows.
func StepTimes(t *Theme, steps ...StepTime) (*Figure, error) {
	names, err := partNames(steps)
	if err != nil {
		return nil, err
	}
	whole, parts := &bars{theme: t, wide: 0.64}, &timeDots{theme: t}
	data := Table{Head: []string{"row", "part", "milliseconds"}}
	longest, low, high := 0.0, math.Inf(1), 0.0
	for i, s := range steps {
		end := 0.0
		for _, part := range s.Parts {
			n := slices.Index(names, part.Name)
			whole.bars = append(whole.bars, bar{row: i, start: end, end: end + part.Millis, inside: true,
				text: fmt.Sprintf("%.2f", part.Millis), color: t.stream(n, len(names))})
			end += part.Millis
			data.add(s.Label, part.Name, part.Millis)
			if part.Millis > 0 {
				parts.items = append(parts.items, pointMark{x: math.Log10(part.Millis), y: float64(len(steps) - 1 - i), glyph: t.partGlyph(n, len(names))})
				low, high = min(low, part.Millis), max(high, part.Millis)
			}
		}
		// The whole is written beside an empty bar.
		whole.bars = append(whole.bars, bar{row: i, start: end, end: end, text: fmt.Sprintf("%.2f ms", end), color: t.Ink})
		whole.rows = append(whole.rows, s.Label)
		longest = max(longest, end)
	}
	if longest == 0 {
		return nil, errors.New("viz: all step times are 0")
	}
	left := t.newPlot("time of a training step, ms", "")
	left.Title.Text = "in all"
	whole.addTo(left)
	left.X.Min, left.X.Max = 0, 1.3*longest // room for the text where the page is narrow
	left.X.Tick.Marker = roundTicks{5}
	right := t.newPlot("time of each part (logarithmic)", "")
	right.Title.Text = "each part by itself"
	right.Add(parts)
	right.X.Min, right.X.Max = math.Floor(math.Log10(low)+0.05)-0.1, math.Ceil(math.Log10(high)-0.05)+0.1
	right.X.Tick.Marker = timeTicks{}
	right.Y.Min, right.Y.Max = left.Y.Min, left.Y.Max
	right.Y.Tick.Marker = left.Y.Tick.Marker
	right.Y.Tick.Length, right.Y.LineStyle.Width = 0, 0
	f := newFigure(t, vg.Length(76+24*len(steps)), fmt.Sprintf("Breakdown of the time of a training step, for %d rows.", len(steps)), []*plot.Plot{left, right})
	for i, name := range names {
		f.key = append(f.key, keyEntry{label: name, line: t.line(t.stream(i, len(names)), 8), glyph: t.partGlyph(i, len(names))})
		f.key[i].glyph.Color = readableOn(t.stream(i, len(names)))
	}
	return f.holding("step-times", data), nil
}

// partNames are the parts of all rows, in the order of their first.
func partNames(steps []StepTime) ([]string, error) {
	if len(steps) == 0 {
		return nil, errors.New("viz: no step times to draw")
	}
	var names []string
	for _, s := range steps {
		for _, part := range s.Parts {
			if !finite(part.Millis) || part.Millis < 0 {
				return nil, fmt.Errorf("viz: step time %q: %s takes %v ms; want a finite time of at least 0", s.Label, part.Name, part.Millis)
			}
			if !slices.Contains(names, part.Name) {
				names = append(names, part.Name)
			}
		}
	}
	return names, nil
}

func (t *Theme) partGlyph(i, n int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: t.stream(i, n), Radius: vg.Points(3.4), Shape: solid[i%len(solid)]}
}

// timeDots draws the parts of each row, over lines at the powers of ten.
type timeDots struct {
	theme *Theme
	items []pointMark
}

func (d *timeDots) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		c.StrokeLine2(d.theme.line(d.theme.Grid, 0.7), trX(tick.Value), c.Min.Y, trX(tick.Value), c.Max.Y)
	}
	for _, it := range d.items {
		c.DrawGlyphNoClip(it.glyph, vg.Point{X: trX(it.x), Y: trY(it.y)})
	}
}

// timeTicks names the powers of ten of a millisecond on an axis that holds their exponents.
type timeTicks struct{}

func (timeTicks) Ticks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Ceil(lo); e <= hi; e++ {
		value, unit := math.Pow(10, e), "ms"
		switch {
		case e < -3:
			value, unit = value*1e6, "ns"
		case e < 0:
			value, unit = value*1e3, "µs"
		case e >= 3:
			value, unit = value/1e3, "s"
		}
		ticks = append(ticks, plot.Tick{Value: e, Label: fmt.Sprintf("%.0f %s", value, unit)})
	}
	return ticks
}
