package viz

import (
	"cmp"
	"errors"
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
	marks  []vertical
	key    []keyEntry
	data   [][]any
	told   []said
	atEnd  bool       // its lines are named at their ends, not in the key
	beside bool       // its series are named beside their last points
	ends   []keyEntry // of the lines of streams
	plain  []string   // the labels of what has no style of its own
	err    error
}

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
	p := &Plot{Plot: newPlot(x, y)}
	p.Title.Text = title
	return p
}

// grid adds lines at the ticks of the vertical axis.
func (p *Plot) grid() { p.Add(horizontals()) }

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
	s = p.styled(label, s)
	if xys := p.points(label, x, y); xys != nil {
		p.scatter(label, s.marked().glyph(2.4), xys)
		p.explain(keyEntry{label: label, glyph: s.marked().glyph(2.8), end: xys[len(xys)-1]})
		p.keep(label, x, y, nil, nil)
	}
}

// Band fills the area between two lines, in a see-through form of the style's colour. It has no place in the key; label
// names it in the figure's data.
func (p *Plot) Band(label string, s Style, x, low, high []float64) {
	s = p.styled(label, s)
	lows, highs := p.points(label, x, low), p.points(label, x, high)
	switch {
	case lows == nil || highs == nil:
	case len(x) < 2:
		p.fail(label, errors.New("a band needs at least two points"))
	default:
		p.series(label, nil, func() { p.band(lows, highs, s) })
		p.keep(label, x, nil, low, high)
	}
}

// Series draws the mean of repeated measurements, each of which has a value for each x, and around it a band of one
// population standard deviation. The line has markers if there are at most 40 of them.
func (p *Plot) Series(label string, s Style, x []float64, measured ...[]float64) {
	s = p.styled(label, s)
	if len(measured) == 0 {
		p.fail(label, errors.New("no measurements"))
		return
	}
	var c curve
	low, high := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		var values []float64
		for _, m := range measured {
			if len(m) != len(x) {
				p.fail(label, fmt.Errorf("%d values at %d places", len(m), len(x)))
				return
			}
			values = append(values, m[i])
		}
		mean, std := meanStd(values)
		c.add(x[i], mean, std)
		low[i], high[i] = mean-std, mean+std
	}
	if p.points(label, c.steps, c.mean) == nil {
		return
	}
	show := noSpread
	if len(measured) > 1 {
		show = bands
	}
	p.curve(label, s.marked(), c, show)
	p.keep(label, c.steps, c.mean, low, high)
}

// Mark marks a place on the horizontal axis by a thin line with a label at its top, for example the arrival of a task.
func (p *Plot) Mark(x float64, label string) {
	if !finite(x) {
		p.fail(label, fmt.Errorf("a mark at %g", x))
		return
	}
	p.marks = append(p.marks, vertical{x, label})
	slices.SortStableFunc(p.marks, func(a, b vertical) int { return cmp.Compare(a.x, b.x) })
}

// NameEnds writes a name at the right end of each line, beside the plot, in place of the figure's key. Names of lines
// that end close to each other are moved apart.
func (p *Plot) NameEnds() { p.atEnd = true }

// NamePoints writes the name of each series beside its last point, in place of the figure's key.
func (p *Plot) NamePoints() { p.beside = true }

// points pairs coordinates, which must be finite; nil if they are not.
func (p *Plot) points(label string, x, y []float64) plotter.XYs {
	if len(x) != len(y) || len(x) == 0 {
		p.fail(label, fmt.Errorf("%d places on the horizontal axis and %d values; want as many of both, and at least one", len(x), len(y)))
		return nil
	}
	out := make(plotter.XYs, len(x))
	for i := range x {
		if !finite(x[i]) || !finite(y[i]) {
			p.fail(label, fmt.Errorf("point %d is (%g, %g), which is not finite", i, x[i], y[i]))
			return nil
		}
		out[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return out
}

func (p *Plot) fail(label string, err error) {
	if p.err == nil {
		p.err = fmt.Errorf("viz: plot %q, series %q: %w", cmp.Or(p.Title.Text, p.Y.Label.Text), label, err)
	}
}

// explain adds to the key, where a line and points of one label share an entry.
func (p *Plot) explain(e keyEntry) {
	if e.label == "" {
		return
	}
	for i := range p.key {
		if old := &p.key[i]; old.label == e.label {
			if e.line.Width > 0 {
				old.line = e.line
			}
			if e.glyph.Shape != nil {
				old.glyph = e.glyph
			}
			old.end = e.end
			return
		}
	}
	p.key = append(p.key, e)
}

// keep adds to the data.
func (p *Plot) keep(label string, x, y, low, high []float64) {
	at := func(list []float64, i int) any {
		if list == nil {
			return nil
		}
		return list[i]
	}
	for i := range x {
		p.data = append(p.data, []any{p.Title.Text, label, x[i], at(y, i), at(low, i), at(high, i)})
	}
}

// finish moves the names of series from the key to their ends.
func (p *Plot) finish() {
	switch {
	case len(p.key) == 0:
	case p.atEnd:
		p.endLabels(p.key)
		p.key = nil
	case p.beside:
		p.namesBeside(p.key)
		p.key = nil
	}
}

// Plots makes a figure of plots side by side, with one key above them. name is what a file of the figure is called, alt
// describes it in a sentence, for those who cannot see it. The figure's data are those of the plots, and its Rows, Width
// and Height may be changed, for example to put plots below each other. The first mistake in what was added to a plot is an error.
func Plots(name, alt string, plots ...*Plot) (*Figure, error) {
	l := layout{name: name, alt: alt, height: 290, own: true, data: Table{Head: []string{"plot", "series", "x", "y", "low", "high"}}}
	for _, p := range plots {
		l.data.Rows = append(l.data.Rows, p.data...)
	}
	return figureOf(l, plots)
}

// layout is what a figure has beside its panels.
type layout struct {
	name, alt string
	data      Table
	height    vg.Length  // of the whole
	row       vg.Length  // or of each row
	key       []keyEntry // behind that of the panels
	width     vg.Length  // 0: that of a page
	share     []float64  // of the rows in the height; nil: equal
	own       bool       // of plots of one's own, of which data may be none
}

// figureOf makes a figure of rows of panels, or returns the first mistake in one of them.
func figureOf(l layout, rows ...[]*Plot) (*Figure, error) {
	if len(l.data.Rows) == 0 && !l.own {
		return nil, fmt.Errorf("viz: %s: there is nothing to draw", l.name)
	}
	f := &Figure{
		Width: cmp.Or(l.width, wide), Height: l.height + l.row*vg.Length(len(rows)), Share: l.share,
		Name: l.name, Alt: l.alt, Data: l.data,
	}
	var key Plot
	for _, row := range rows {
		f.Rows = append(f.Rows, nil)
		for _, p := range row {
			if p.err != nil {
				return nil, p.err
			}
			p.finish()
			for _, e := range p.key {
				key.explain(e)
			}
			f.Rows[len(f.Rows)-1] = append(f.Rows[len(f.Rows)-1], p.Plot)
		}
	}
	f.key = append(key.key, l.key...)
	f.Alt += told(slices.Concat(rows...))
	return f, nil
}

// told is what the plots show, in words: where each series ends, or what each row says.
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
		var texts []string
		for _, s := range p.told[:min(most, len(p.told))] {
			texts = append(texts, s.text)
		}
		b.WriteString(strings.Join(texts, ", "))
		if more := len(p.told) - most; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		b.WriteString(".")
	}
	return b.String()
}

// inRows puts panels into rows of at most three and keeps the axes' labels at the outside only.
func inRows(plots []*Plot) (rows [][]*Plot) {
	columns := min(3, len(plots))
	if len(plots) == 4 {
		columns = 2
	}
	for i, p := range plots {
		if i%columns == 0 {
			rows = append(rows, nil)
		} else {
			p.Y.Label.Text = ""
		}
		if i+columns < len(plots) {
			p.X.Label.Text = ""
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], p)
	}
	return rows
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
