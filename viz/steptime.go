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

// StepTimes draws where the time of training steps goes. It must show what a method costs in total, a stacked bar for each row,
// and what each part costs, even the smallest: on the right each part by itself on a logarithmic axis.
func StepTimes(t *Theme, steps ...StepTime) (*Figure, error) {
	var names []string
	for _, s := range steps {
		for _, part := range s.Parts {
			names = once(names, part.Name)
		}
	}
	l := layout{name: "step-times", height: vg.Length(76 + 24*len(steps)), data: Table{Head: []string{"row", "part", "milliseconds"}},
		alt: fmt.Sprintf("Breakdown of the time of a training step, for %d rows.", len(steps))}
	for i, name := range names {
		c := t.Stream(i, len(names))
		l.key = append(l.key, keyEntry{label: name, line: t.line(c, 8), glyph: draw.GlyphStyle{Color: readable{c}, Radius: vg.Points(3.4), Shape: solid[i%len(solid)]}})
	}
	whole := bars{wide: 0.64}
	var parts []dot
	longest, low, high := 0.0, math.Inf(1), 0.0
	for i, s := range steps {
		end := 0.0
		for _, part := range s.Parts {
			n := slices.Index(names, part.Name)
			color := t.Stream(n, len(names))
			whole.bars = append(whole.bars, bar{row: i, start: end, end: end + part.Millis, inside: true, text: fmt.Sprintf("%.3g", part.Millis), color: color})
			end += part.Millis
			l.data.add(s.Label, part.Name, part.Millis)
			if part.Millis > 0 {
				glyph := l.key[n].glyph
				glyph.Color = color
				parts = append(parts, dot{x: math.Log10(part.Millis), y: rowY(len(steps), i), glyph: glyph,
					about: fmt.Sprintf("%s, %s: %.3g ms", s.Label, part.Name, part.Millis)})
				low, high = min(low, part.Millis), max(high, part.Millis)
			}
		}
		// The whole is written beside an empty bar.
		whole.bars = append(whole.bars, bar{row: i, start: end, end: end, text: fmt.Sprintf("%.3g ms", end), color: t.Ink})
		whole.rows = append(whole.rows, s.Label)
		longest = max(longest, end)
	}
	if longest == 0 {
		return nil, errors.New("viz: no step times above 0 to draw")
	}
	left, right := t.panel("in all", "time of a training step, ms", ""), t.panel("each part by itself", "time of each part (logarithmic)", "")
	left.bars(whole)
	left.X.Min, left.X.Max = 0, 1.3*longest // room for the text where the page is narrow
	left.X.Tick.Marker = roundTicks{5}
	right.rows(whole.rows)
	right.X.Min, right.X.Max = math.Floor(math.Log10(low)+0.05)-0.1, math.Ceil(math.Log10(high)-0.05)+0.1
	right.X.Tick.Marker = timeTicks{}
	grid := t.horizontals()
	grid.Horizontal, grid.Vertical = draw.LineStyle{}, t.line(t.Grid, 0.7)
	right.Add(grid)
	right.dots(parts...)
	return t.figure(l, []*Plot{left, right})
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
