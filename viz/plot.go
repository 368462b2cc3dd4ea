package viz

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Plot is a plot of one's own in the style of the package. Begin with [NewPlot], add lines, points and bands, and make a figure
// of it with [Plots]. The first error of an addition is kept, and returned by Plots. The embedded plot of gonum takes
// everything else, such as ranges of axes and other plotters.
type Plot struct {
	*plot.Plot
	marks []vertical
	names naming
	key   []keyEntry
	data  [][]any
	told  []string // where each series ends, in words
	plain []string // the labels of what has no style of its own
	err   error
}

// naming is where the names of series stand.
type naming int

const (
	inKey naming = iota
	atEnds
	besidePoints
	elsewhere // in the title, or in what the figure adds to the key
)

// NewPlot returns an empty plot with a title and the labels of its axes, any of which may be empty. Horizontal lines mark
// the ticks of the vertical axis.
func NewPlot(title, x, y string) *Plot {
	p := panel(title, x, y)
	p.grid()
	p.sketch(func(c pen) { c.verticals(p.marks) })
	return p
}

// panel is NewPlot without the lines.
func panel(title, x, y string) *Plot {
	p := plot.New()
	p.BackgroundColor = paper
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font, p.Title.TextStyle.Color = sans(labelSize), ink
	p.Title.Padding = vg.Points(5)
	p.X.Tick.Marker, p.Y.Tick.Marker = roundTicks{n: 7}, roundTicks{n: 6}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = sans(labelSize), ink
		a.Label.Padding = vg.Points(3)
		a.Tick.Label.Font, a.Tick.Label.Color = sans(tickSize), muted
		a.Tick.Length = vg.Points(3)
		a.Tick.LineStyle, a.LineStyle = lineStyle(muted, 0.5), lineStyle(muted, 0.5)
		a.Padding = vg.Points(2)
	}
	return &Plot{Plot: p}
}

// Line draws a line through points. label names it in the key above the figure; an empty one leaves it out. A style is
// that of a method, or of any name ([Method], [Methods]), or one's own. The zero Style stands for the one that
// [Methods] gives the label among those of the plot.
func (p *Plot) Line(label string, s Style, x, y []float64) {
	s = p.styled(label, s)
	if xys := p.points(label, x, y); xys != nil {
		p.named(label, s.line(1.6), xys)
		p.keep(label, x, y, nil, nil)
	}
}

// Points draws the style's marker at points. Points of the same label as a line share its place in the key.
func (p *Plot) Points(label string, s Style, x, y []float64) {
	s = p.styled(label, s).marked()
	if xys := p.points(label, x, y); xys != nil {
		p.scatter(label, s.glyph(2.4), xys)
		p.explain(keyEntry{label: label, glyph: s.glyph(2.8), end: last(xys)})
		p.keep(label, x, y, nil, nil)
	}
}

// Band fills the area between two lines, in a see-through form of the style's colour. It has no place in the key; label
// names it in the figure's data.
func (p *Plot) Band(label string, s Style, x, low, high []float64) {
	s = p.styled(label, s)
	lows, highs := p.points(label, x, low), p.points(label, x, high)
	if lows != nil && highs != nil {
		p.series(label, nil, func() { p.band(lows, highs, s) })
		p.keep(label, x, nil, low, high)
	}
}

// Series draws the mean of repeated measurements, each of which has a value for each x, and around it a band of one
// population standard deviation. The line has markers if there are at most 40 of them.
func (p *Plot) Series(label string, s Style, x []float64, measured ...[]float64) {
	s = p.styled(label, s).marked()
	for _, m := range measured {
		if p.points(label, x, m) == nil {
			return
		}
	}
	if len(measured) == 0 {
		panic(fmt.Sprintf("viz: series %q has no measurements", label))
	}
	var c curve
	for i := range x {
		var values []float64
		for _, m := range measured {
			values = append(values, m[i])
		}
		c.add(x[i], values...)
	}
	p.curve(label, s, c, spreadFor(len(measured), 1))
	for _, at := range c {
		p.keep(label, []float64{at.x}, []float64{at.mean}, []float64{at.mean - at.std}, []float64{at.mean + at.std})
	}
}

// Mark marks a place on the horizontal axis by a thin line with a label at its top, for example the arrival of a task.
func (p *Plot) Mark(x float64, label string) {
	p.marks = append(p.marks, vertical{x, label})
	slices.SortStableFunc(p.marks, func(a, b vertical) int { return cmp.Compare(a.x, b.x) })
}

// NameEnds writes a name at the right end of each line, beside the plot, in place of the figure's key. Names of lines
// that end close to each other are moved apart.
func (p *Plot) NameEnds() { p.names = atEnds }

// NamePoints writes the name of each series beside its last point, in place of the figure's key.
func (p *Plot) NamePoints() { p.names = besidePoints }

// points pairs coordinates; nil if there are none, or not as many of both.
func (p *Plot) points(label string, x, y []float64) plotter.XYs {
	if len(x) != len(y) || len(x) == 0 {
		p.can(label, fmt.Errorf("%d places on the horizontal axis and %d values; want as many of both, and at least one", len(x), len(y)))
		return nil
	}
	out := make(plotter.XYs, len(x))
	for i := range x {
		out[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return out
}

func last[T any](list []T) *T { return &list[len(list)-1] }

// can keeps the first error, and says whether this is none.
func (p *Plot) can(label string, err error) bool {
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("viz: plot %q, series %q: %w", cmp.Or(p.Title.Text, p.Y.Label.Text), label, err)
	}
	return err == nil
}

// explain adds to the key, where a line and points of one label share an entry.
func (p *Plot) explain(e keyEntry) {
	if e.label == "" {
		return
	}
	at := slices.IndexFunc(p.key, func(old keyEntry) bool { return old.label == e.label })
	if at < 0 {
		p.key = append(p.key, e)
		return
	}
	old := &p.key[at]
	old.end = e.end
	if e.line.Width > 0 {
		old.line = e.line
	}
	if e.glyph.Shape != nil {
		old.glyph = e.glyph
	}
}

// keep adds to the data.
func (p *Plot) keep(label string, x, y, low, high []float64) {
	for i := range x {
		p.data = append(p.data, []any{p.Title.Text, label, x[i], entry(y, i), entry(low, i), entry(high, i)})
	}
}

// finish puts the names of series where they belong.
func (p *Plot) finish() {
	for _, e := range p.key {
		if e.end != nil {
			p.told = append(p.told, fmt.Sprintf("%s %.3g", e.label, e.end.Y))
		}
	}
	switch key := p.key; {
	case p.names == inKey || len(key) == 0:
		return
	case p.names == atEnds:
		p.endLabels(key)
	case p.names == besidePoints:
		p.namesBeside(key)
	}
	p.key = nil
}

// Plots makes a figure of plots side by side, with one key above them. name is what a file of the figure is called, alt
// describes it in a sentence, for those who cannot see it. The figure's data are those of the plots, and its Rows, Width
// and Height may be changed, for example to put plots below each other. The first mistake in what was added to a plot is an error.
func Plots(name, alt string, plots ...*Plot) (*Figure, error) {
	f := Figure{Name: name, Alt: alt, Data: Table{Head: []string{"plot", "series", "x", "y", "low", "high"}}}
	for _, p := range plots {
		f.Data.Rows = append(f.Data.Rows, p.data...)
	}
	return f.of(plots)
}

// figureOf is a figure of the package, which has data.
func figureOf(f Figure, rows ...[]*Plot) (*Figure, error) {
	if len(f.Data.Rows) == 0 {
		return nil, fmt.Errorf("viz: %s: there is nothing to draw", f.Name)
	}
	return f.of(rows...)
}

// of makes a figure of its description and rows of panels, or returns the first mistake in one of them. What the figure
// has in its key stands behind the panels' own.
func (f Figure) of(rows ...[]*Plot) (*Figure, error) {
	var key Plot
	for _, row := range rows {
		var plots []*plot.Plot
		for _, p := range row {
			if p.err != nil {
				return nil, p.err
			}
			p.finish()
			for _, e := range p.key {
				key.explain(e)
			}
			plots = append(plots, p.Plot)
		}
		f.Rows = append(f.Rows, plots)
	}
	f.key = append(key.key, f.key...)
	f.Alt += told(slices.Concat(rows...))
	return &f, nil
}

// told is what the plots show, in words: where each series ends.
func told(plots []*Plot) string {
	const most = 12
	var b strings.Builder
	for _, p := range plots {
		if len(p.told) == 0 {
			continue
		}
		b.WriteString(" ")
		if title := cmp.Or(p.Title.Text, p.Y.Label.Text, p.X.Label.Text); title != "" && len(plots) > 1 {
			b.WriteString(title + ": ")
		}
		b.WriteString(strings.Join(p.told[:min(most, len(p.told))], ", "))
		if more := len(p.told) - most; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		b.WriteString(".")
	}
	return b.String()
}

// inRows is figureOf with panels in rows of one height, at most three beside each other, and the axes' labels at the
// outside only.
func inRows(f Figure, height vg.Length, plots []*Plot) (*Figure, error) {
	columns := max(1, min(3, len(plots)))
	if len(plots) == 4 {
		columns = 2
	}
	for i, p := range plots {
		if i%columns != 0 {
			p.Y.Label.Text = ""
		}
		if i+columns < len(plots) {
			p.X.Label.Text = ""
		}
	}
	rows := slices.Collect(slices.Chunk(plots, columns))
	f.Height = height * vg.Length(len(rows))
	return figureOf(f, rows...)
}

// styled is a style or, in place of the zero one, that of the label.
func (p *Plot) styled(label string, s Style) Style {
	if s.Color != nil || s.Marker != nil || s.Dashes != nil {
		return s
	}
	if !slices.Contains(p.plain, label) {
		p.plain = append(p.plain, label)
	}
	return Methods(p.plain...)[label]
}

// marked is the style, with a circle as its marker if it has none.
func (s Style) marked() Style {
	if s.Marker == nil {
		s.Marker = markers[0]
	}
	return s
}
