package viz

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// Curve is a line through points, perhaps means with a spread. Up to 40 points get the style's
// marker, if it has one.
type Curve struct {
	Label string
	Style Style
	XY    plotter.XYs
	// Std has the standard deviation of each mean, drawn as a band around the line or, with Bars,
	// as bars at up to 40 points. nil draws no spread.
	Std  []float64
	Bars bool
	// Unlisted leaves the curve out of the key.
	Unlisted bool
}

// fewPoints is the largest number of points that are marked one by one.
const fewPoints = 40

// Series returns the points, with one standard deviation to both sides.
func (c *Curve) Series() Series {
	s := Series{Values: c.XY}
	if s.Label = c.Label; !c.Unlisted {
		s.Line, s.Glyph = c.Style.LineStyle(), c.Style.GlyphStyle(2.8)
	}
	if c.Std == nil {
		return s
	}
	s.Low, s.High = slices.Clone(c.Std), slices.Clone(c.Std)
	for i := range min(len(c.Std), len(c.XY)) {
		s.Low[i], s.High[i] = c.XY[i].Y-c.Std[i], c.XY[i].Y+c.Std[i]
	}
	return s
}

// Plot draws the spread, the line over it, and the markers over both.
func (c *Curve) Plot(canvas draw.Canvas, p *plot.Plot) { c.layers().Plot(canvas, p) }

// DataRange returns the range of the points and their spread.
func (c *Curve) DataRange() (xmin, xmax, ymin, ymax float64) { return c.layers().DataRange() }

// GlyphBoxes returns the room that the markers need.
func (c *Curve) GlyphBoxes(p *plot.Plot) []plot.GlyphBox { return c.layers().GlyphBoxes(p) }

func (c *Curve) layers() (all layers) {
	few := len(c.XY) <= fewPoints
	switch {
	case c.Std == nil:
	case !c.Bars && len(c.XY) > 1:
		s := c.Series()
		all = append(all, band(c.Style, c.XY, s.Low, s.High))
	case few:
		all = append(all, errorBars(c.Style, c.XY, c.Std))
	}
	all = append(all, &plotter.Line{XYs: c.XY, LineStyle: c.Style.LineStyle()})
	if few && c.Style.Marker != nil {
		all = append(all, &plotter.Scatter{XYs: c.XY, GlyphStyle: c.Style.GlyphStyle(2.4)})
	}
	return all
}

// band returns a plotter of the area between low and high.
func band(s Style, at plotter.XYs, low, high []float64) *plotter.Polygon {
	around := make(plotter.XYs, 2*len(at))
	for i, xy := range at {
		around[i] = plotter.XY{X: xy.X, Y: high[i]}
		around[len(around)-1-i] = plotter.XY{X: xy.X, Y: low[i]}
	}
	// A mixed opaque colour would hide the lines below; a see-through one does not.
	return &plotter.Polygon{XYs: []plotter.XYs{around}, Color: s.color().Alpha(50),
		LineStyle: draw.LineStyle{Color: color.Black}}
}

// errorBars returns thin bars of a standard deviation to both sides.
func errorBars(s Style, at plotter.XYs, std []float64) plot.Plotter {
	spread := make(plotter.YErrors, len(std))
	for i, d := range std {
		spread[i].Low, spread[i].High = d, d
	}
	return flush{&plotter.YErrorBars{XYs: at, YErrors: spread, LineStyle: lineStyle(s.color(), 0.9), CapWidth: 4}}
}

// flush bars may stand at the edge of the data, which keeps no room for them.
type flush struct{ *plotter.YErrorBars }

// GlyphBoxes has none.
func (flush) GlyphBoxes(*plot.Plot) []plot.GlyphBox { return nil }
