package viz

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
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

// StepTimes draws the breakdown of training steps as stacked bars, one row each, in milliseconds, with
// the whole at the bar's end. A part has one colour in all rows.
func StepTimes(t *Theme, steps ...StepTime) (*Figure, error) {
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
	b := &bars{theme: t, wide: 0.64}
	longest := 0.0
	for i, s := range steps {
		end := 0.0
		for _, part := range s.Parts {
			b.bars = append(b.bars, bar{row: i, start: end, end: end + part.Millis, inside: true,
				text: fmt.Sprintf("%.2f", part.Millis), color: t.stream(slices.Index(names, part.Name), len(names))})
			end += part.Millis
		}
		// The whole is written beside an empty bar.
		b.bars = append(b.bars, bar{row: i, start: end, end: end, text: fmt.Sprintf("%.2f ms", end), color: t.Ink})
		b.rows = append(b.rows, s.Label)
		longest = max(longest, end)
	}
	if longest == 0 {
		return nil, errors.New("viz: all step times are 0")
	}
	p := t.newPlot("time of a training step, ms", "")
	b.addTo(p)
	p.X.Min, p.X.Max = 0, 1.26*longest // room for the text where the page is narrow
	f := newFigure(t, vg.Length(56+24*len(steps)), fmt.Sprintf("Breakdown of the time of a training step, for %d rows.", len(steps)), []*plot.Plot{p})
	for i, name := range names {
		f.key = append(f.key, t.swatchKey(name, t.stream(i, len(names))))
	}
	return f, nil
}
