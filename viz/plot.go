package viz

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Plot is a plot in the style of the package, over a plot of gonum, which takes everything else,
// such as the ranges of axes. Begin with [NewPlot], add series, and make a figure of plots with
// [NewFigure] or [Plots]. A plot keeps its first error, which they return.
type Plot struct {
	*plot.Plot
	marks []vertical
	names naming
	key   []listed
	data  [][]any
	ends  []string // where each series ends, in words
	plain []string // the labels of series without a style of their own
	err   error
}

// naming is where the names of series stand.
type naming int

const (
	inKey naming = iota
	atEnds
	besidePoints
	nowhere
)

// NewPlot returns an empty plot with a title and the labels of its axes, any of which may be empty.
// Horizontal lines mark the ticks of the vertical axis.
func NewPlot(title, x, y string) *Plot {
	p := styledPlot(title, x, y)
	p.Add(Grid())
	p.addMarks()
	return p
}

// NewBarePlot returns the plot of [NewPlot] without the lines of the [Grid].
func NewBarePlot(title, x, y string) *Plot {
	p := styledPlot(title, x, y)
	p.addMarks()
	return p
}

func (p *Plot) addMarks() { p.Add(Sketch(func(c Pen) { c.verticals(p.marks) })) }

func styledPlot(title, x, y string) *Plot {
	p := plot.New()
	p.BackgroundColor = Background
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font, p.Title.TextStyle.Color = sans(labelSize), Ink
	p.Title.Padding = vg.Points(5)
	p.X.Tick.Marker, p.Y.Tick.Marker = Ticks{N: 7}, Ticks{N: 6}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = sans(labelSize), Ink
		a.Label.Padding = vg.Points(3)
		a.Tick.Label.Font, a.Tick.Label.Color = sans(tickSize), Muted
		a.Tick.Length = vg.Points(3)
		a.Tick.LineStyle, a.LineStyle = lineStyle(Muted, 0.5), lineStyle(Muted, 0.5)
		a.Padding = vg.Points(2)
	}
	return &Plot{Plot: p}
}

// Line draws a line through points. The label names it in the key above the figure; a line without
// a label is not named. The zero Style stands for the one that [MethodStyles] gives the label among
// those of the plot.
func (p *Plot) Line(label string, s Style, x, y []float64) {
	s = p.styled(label, s)
	s.Marker = nil
	if xys := p.points(label, x, y); xys != nil {
		p.Add(&Curve{Label: label, Style: s, XY: xys})
	}
}

// Points draws the style's marker at points. Points with the label of a line share its entry in the
// key.
func (p *Plot) Points(label string, s Style, x, y []float64) {
	s = p.styled(label, s).marked()
	if xys := p.points(label, x, y); xys != nil {
		p.Add(Named(Series{KeyEntry: KeyEntry{Label: label, Glyph: s.GlyphStyle(2.8)}, Values: xys},
			&plotter.Scatter{XYs: xys, GlyphStyle: s.GlyphStyle(2.4)}))
	}
}

// Band fills the area between two lines with a transparent form of the style's colour. It has no
// entry in the key; the label names it in the figure's data.
func (p *Plot) Band(label string, s Style, x, low, high []float64) {
	s = p.styled(label, s)
	if len(low) != len(high) {
		p.fail(label, fmt.Errorf("%d low and %d high ends; want as many of each", len(low), len(high)))
		return
	}
	if xys := p.points(label, x, low); xys != nil {
		area := band(s, xys, low, high)
		for i := range xys {
			xys[i].Y = math.NaN()
		}
		p.Add(Named(Series{KeyEntry: KeyEntry{Label: label}, Values: xys, Low: low, High: high}, area))
	}
}

// Mean draws the mean of repeated measurements, each of which has a value for each x, with a band
// of one population standard deviation. Up to 40 means have markers.
func (p *Plot) Mean(label string, s Style, x []float64, measured ...[]float64) {
	if len(measured) == 0 {
		panic(fmt.Sprintf("viz: series %q has no measurements", label))
	}
	c := &Curve{Label: label, Style: p.styled(label, s).marked()}
	for _, m := range measured {
		if c.XY = p.points(label, x, m); c.XY == nil {
			return
		}
	}
	if len(measured) > 1 {
		c.Std = make([]float64, len(x))
	}
	for i := range x {
		mean, std := meanStd(each(measured, func(m []float64) float64 { return m[i] }))
		if c.XY[i].Y = mean; c.Std != nil {
			c.Std[i] = std
		}
	}
	p.Add(c)
}

// Mark draws a thin vertical line with a label at its top, for example where a task arrives.
func (p *Plot) Mark(x float64, label string) {
	p.marks = append(p.marks, vertical{x, label})
	slices.SortStableFunc(p.marks, func(a, b vertical) int { return cmp.Compare(a.x, b.x) })
}

// LabelEnds writes the label of each series at the right end of its line, and not in the key.
// Labels of lines that end close to each other are moved apart.
func (p *Plot) LabelEnds() { p.names = atEnds }

// LabelPoints writes the label of each series beside its last point, and not in the key.
func (p *Plot) LabelPoints() { p.names = besidePoints }

// HideLabels leaves the labels of the series out of the plot and the key, where the figure names
// them in another way.
func (p *Plot) HideLabels() { p.names = nowhere }

// points pairs coordinates; it returns nil if there are none, or not as many of both.
func (p *Plot) points(label string, x, y []float64) plotter.XYs {
	if len(x) != len(y) || len(x) == 0 {
		p.fail(label, fmt.Errorf("%d places on the horizontal axis and %d values; want as many of both, and at least one",
			len(x), len(y)))
		return nil
	}
	out := make(plotter.XYs, len(x))
	for i := range x {
		out[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return out
}

// fail keeps the first error.
func (p *Plot) fail(label string, err error) {
	if p.err == nil {
		p.err = fmt.Errorf("viz: plot %q, series %q: %w", cmp.Or(p.Title.Text, p.Y.Label.Text), label, err)
	}
}

// list adds to the key, where a line and points of one label share an entry.
func (p *Plot) list(e listed) {
	if e.Label == "" {
		return
	}
	at := slices.IndexFunc(p.key, func(old listed) bool { return old.Label == e.Label })
	if at < 0 {
		p.key = append(p.key, e)
		return
	}
	old := &p.key[at]
	old.end, old.spread = e.end, e.spread
	if e.Line.Width > 0 {
		old.Line = e.Line
	}
	if e.Glyph.Shape != nil {
		old.Glyph = e.Glyph
	}
}

// finish writes the names of series where they belong.
func (p *Plot) finish() {
	var ended, others []listed
	for _, e := range p.key {
		if e.end == nil {
			others = append(others, e)
			continue
		}
		ended = append(ended, e)
		p.ends = append(p.ends, fmt.Sprintf("%s %.3g", e.Label, p.shown(e.end.Y)))
	}
	switch {
	case p.names == nowhere:
		p.key = nil
	case p.names == atEnds && len(ended) > 0:
		p.endLabels(ended)
		p.key = others
	case p.names == besidePoints && len(ended) > 0:
		p.namesBeside(ended)
		p.key = others
	}
}

// shown returns the value that readers see at a place of the vertical axis, which may be one of
// exponents.
func (p *Plot) shown(y float64) float64 {
	powers, ok := p.Y.Tick.Marker.(PowerTicks)
	switch {
	case !ok:
		return y
	case y <= powers.Zero:
		return 0
	}
	return math.Pow(10, y)
}

// styled returns a style or, in place of one without a look, that of the label.
func (p *Plot) styled(label string, s Style) Style {
	if s.Color != nil || s.Marker != nil || s.Dashes != nil {
		return s
	}
	if !slices.Contains(p.plain, label) {
		p.plain = append(p.plain, label)
	}
	look := MethodStyles(p.plain...)[label]
	look.Width = s.Width
	return look
}

// marked is the style, with a circle as its marker if it has none.
func (s Style) marked() Style {
	if s.Marker == nil {
		s.Marker = markers[0]
	}
	return s
}
