package viz

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// Plotter is a plotter of gonum that describes its series to [Plot.Add]. Implement it to draw a new
// kind of series; like every plotter it may also be a [plot.DataRanger] and a [plot.GlyphBoxer].
type Plotter interface {
	plot.Plotter
	Series() Series
}

// Series describes what a [Plotter] draws. Its name appears in the key, or at its last value if the
// plot names its lines there. A series without Line and Glyph has no place in the key.
type Series struct {
	KeyEntry
	// Values go into the figure's data, and pages show them under the pointer. A Y of NaN stands
	// for a spread alone.
	Values plotter.XYs
	// Low and High are the ends of each value's spread; nil for none.
	Low, High []float64
}

// KeyEntry explains a line, a marker or a colour in the key above the figure.
type KeyEntry struct {
	Label string
	Line  draw.LineStyle  // not drawn if its width is 0
	Glyph draw.GlyphStyle // not drawn without a shape
	Tight bool            // a marker takes its own width, not that of a line
}

// Swatch returns a key entry that explains a colour.
func Swatch(label string, c Color) KeyEntry {
	return KeyEntry{Label: label, Line: draw.LineStyle{Color: c, Width: 8}}
}

// Add adds plotters, which are drawn in this order. A [Plotter] also gets its entry in the key, and
// its values become part of the figure's data; the first series with values that cannot be drawn is
// an error of [NewFigure].
func (p *Plot) Add(plotters ...plot.Plotter) {
	for _, it := range plotters {
		if series, ok := it.(Plotter); ok {
			p.addSeries(series)
			continue
		}
		p.Plot.Add(it, tag{})
	}
}

func (p *Plot) addSeries(it Plotter) {
	s := it.Series()
	if err := s.check(); err != nil {
		p.fail(s.Label, err)
		return
	}
	for i, at := range s.Values {
		p.data = append(p.data, []any{p.Title.Text, s.Label, at.X, at.Y, entry(s.Low, i), entry(s.High, i)})
	}
	p.Plot.Add(tag{name: s.Label, at: s.pageValues()}, it, tag{})
	if s.Line.Width > 0 || s.Glyph.Shape != nil {
		listed := listed{KeyEntry: s.KeyEntry}
		if n := len(s.Values) - 1; n >= 0 {
			listed.end = &s.Values[n]
			if s.Low != nil {
				listed.spread = plotter.XYs{{X: s.Values[n].X, Y: s.Low[n]}, {X: s.Values[n].X, Y: s.High[n]}}
			}
		}
		if s.Line.Width > 0 {
			listed.line = s.Values
		}
		p.list(listed)
	}
}

// check returns an error unless all values are finite, and as many as the ends of their spreads.
func (s *Series) check() error {
	if n := len(s.Values); s.Low != nil && len(s.Low) != n || len(s.High) != len(s.Low) {
		return fmt.Errorf("%d values with %d low and %d high ends; want as many of each", n, len(s.Low), len(s.High))
	}
	var all []float64
	for _, at := range s.Values {
		all = append(all, at.X)
		if !math.IsNaN(at.Y) || s.Low == nil {
			all = append(all, at.Y)
		}
	}
	return plotter.CheckFloats(append(append(all, s.Low...), s.High...)...)
}

// pageValues returns what pages show under the pointer; nothing for a series without a name.
func (s *Series) pageValues() (at [][]float64) {
	for i, xy := range s.Values {
		value := []float64{xy.X, xy.Y}
		if math.IsNaN(xy.Y) || s.Label == "" {
			continue
		}
		if s.Low != nil {
			value = append(value, s.Low[i], s.High[i])
		}
		at = append(at, value)
	}
	return at
}

// Named returns a [Plotter] that draws several plotters, such as those of gonum, as one series.
func Named(s Series, plotters ...plot.Plotter) Plotter { return &named{s, plotters} }

type named struct {
	series   Series
	plotters layers
}

func (n *named) Series() Series                              { return n.series }
func (n *named) Plot(c draw.Canvas, p *plot.Plot)            { n.plotters.Plot(c, p) }
func (n *named) DataRange() (xmin, xmax, ymin, ymax float64) { return n.plotters.DataRange() }
func (n *named) GlyphBoxes(p *plot.Plot) []plot.GlyphBox     { return n.plotters.GlyphBoxes(p) }

// layers are plotters that are drawn one over the other.
type layers []plot.Plotter

func (l layers) Plot(c draw.Canvas, p *plot.Plot) {
	for _, it := range l {
		it.Plot(c, p)
	}
}

// DataRange returns the range around the ranges of all layers.
func (l layers) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, it := range l {
		if r, ok := it.(plot.DataRanger); ok {
			x0, x1, y0, y1 := r.DataRange()
			xmin, xmax, ymin, ymax = min(xmin, x0), max(xmax, x1), min(ymin, y0), max(ymax, y1)
		}
	}
	return xmin, xmax, ymin, ymax
}

// GlyphBoxes returns the boxes of all layers.
func (l layers) GlyphBoxes(p *plot.Plot) (boxes []plot.GlyphBox) {
	for _, it := range l {
		if b, ok := it.(plot.GlyphBoxer); ok {
			boxes = append(boxes, b.GlyphBoxes(p)...)
		}
	}
	return boxes
}
