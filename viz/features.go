package viz

import (
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/internal/plural"
)

// FeatureMap holds the features that a model gives to samples, reduced to two dimensions, for
// example by t-SNE.
type FeatureMap struct {
	Title     string // for example "early, EMGD"
	X         [][2]float64
	Class     []int  // of each point
	Rehearsal []bool // points of stored samples; nil for none
}

// Features draws maps side by side (the paper's Fig. 9). It must show whether the rehearsal samples
// still lie among the samples of their classes. Test samples are small marks, rehearsal samples
// large ones with a rim, and the name of a class stands at the median of its test samples. Up to 70
// classes have their own combination of colour and marker. A class without a name in names is shown
// by its number.
func Features(names map[int]string, features ...FeatureMap) (*Figure, error) {
	classes, rehearsal := map[int]int{}, false // the place of each class, for its colour
	f := Figure{Name: "features", Data: Table{Head: []string{"map", "x", "y", "class", "rehearsal"}}}
	for _, m := range features {
		m.check()
		for k, x := range m.X {
			classes[m.Class[k]], rehearsal = 0, rehearsal || m.stored(k)
			f.Data.Add(m.Title, x[0], x[1], className(names, m.Class[k]), m.stored(k))
		}
	}
	for place, c := range sortedKeys(classes) {
		classes[c] = place
	}
	var plots []*Plot
	for i := range features {
		p := NewBarePlot(features[i].Title, "", "")
		p.HideAxes()
		addFeatureMap(p, &features[i], classes, names)
		plots = append(plots, p)
	}
	f.Key = classKey(classes, names, rehearsal)
	f.Alt = fmt.Sprintf("Two-dimensional maps of the features of %s, in %s of the model",
		classCount(len(classes)), plural.Of(len(features), "state"))
	if rehearsal {
		f.Alt += ", with the rehearsal samples"
	}
	f.Alt += "."
	rows := Rows(plots...)
	f.Height = 230 * vg.Length(len(rows))
	if len(plots) == 1 {
		f.Width, f.Height = 400, 300 // so that a phone shows all of it
	}
	return NewFigure(f, rows...)
}

// classKey explains the marks, and names the classes as far as there is room.
func classKey(places map[int]int, names map[int]string, rehearsal bool) []KeyEntry {
	key := []KeyEntry{
		{Label: "test sample", Glyph: draw.GlyphStyle{Color: Muted, Radius: 2, Shape: draw.CircleGlyph{}}},
	}
	if rehearsal {
		key = append(key, KeyEntry{Label: "rehearsal sample", Glyph: draw.GlyphStyle{Color: Muted, Radius: 3.6,
			Shape: rimmed{Ink, draw.CircleGlyph{}}}})
	}
	if len(places) > 30 {
		return key
	}
	for _, class := range sortedKeys(places) {
		key = append(key, KeyEntry{Label: className(names, class), Glyph: classGlyph(places[class], 3), Tight: true})
	}
	return key
}

func className(names map[int]string, class int) string {
	if name, ok := names[class]; ok {
		return name
	}
	return fmt.Sprint(class)
}

// check panics if the slices do not fit each other.
func (m *FeatureMap) check() {
	if n := len(m.X); n == 0 || len(m.Class) != n || m.Rehearsal != nil && len(m.Rehearsal) != n {
		panic(fmt.Sprintf("viz: a feature map has %d points, %d classes and %d rehearsal marks; want one of each a point", n,
			len(m.Class), len(m.Rehearsal)))
	}
}

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }

// classGlyph gives each class by its place a colour, one of 14, and a marker, one of five.
func classGlyph(place int, radius float64) draw.GlyphStyle {
	return draw.GlyphStyle{Color: SeriesColor(place), Radius: vg.Points(radius), Shape: Marker(place)}
}

// rimmed is a marker with a rim.
type rimmed struct {
	rim   Color
	shape draw.GlyphDrawer
}

func (g rimmed) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	outer := sty
	outer.Color, outer.Radius, outer.Shape = g.rim, sty.Radius+vg.Points(1), g.shape
	sty.Shape = g.shape
	c.DrawGlyphNoClip(outer, pt)
	c.DrawGlyphNoClip(sty, pt)
}

func (m *FeatureMap) stored(i int) bool { return m.Rehearsal != nil && m.Rehearsal[i] }

// addFeatureMap adds the samples of a map, the stored ones over the others, and the classes' names
// over both.
func addFeatureMap(p *Plot, m *FeatureMap, places map[int]int, names map[int]string) {
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = m.box()
	p.Add(Sketch(func(c Pen) {
		c.SetLineStyle(lineStyle(Faint, 0.7))
		c.Stroke(c.Rectangle.Path())
		for k, kind := range []string{"test", "rehearsal"} {
			stored := k == 1
			for i, x := range m.X {
				if m.stored(i) != stored {
					continue
				}
				sty := classGlyph(places[m.Class[i]], 1.7)
				if stored {
					sty.Radius, sty.Shape = 3.2, rimmed{Ink, sty.Shape}
				} else {
					sty.Color = ColorOf(sty.Color).Alpha(170)
				}
				name := className(names, m.Class[i])
				c.Describe(name, kind)
				c.DrawGlyphNoClip(sty, c.At(x[0], x[1]))
			}
		}
		sty := TextStyle(Ink)
		for _, class := range sortedKeys(places) {
			if x, ok := m.median(class); ok {
				name := className(names, class)
				at := c.At(x[0], x[1])
				c.DrawText(sty, vg.Point{X: at.X - sty.Width(name)/2, Y: at.Y}, name)
			}
		}
	}))
}

func (m *FeatureMap) box() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax = around(0.04, 1e-9, each(m.X, func(x [2]float64) float64 { return x[0] })...)
	ymin, ymax = around(0.04, 1e-9, each(m.X, func(x [2]float64) float64 { return x[1] })...)
	return xmin, xmax, ymin, ymax
}

// median returns the median place of a class's test samples.
func (m *FeatureMap) median(class int) ([2]float64, bool) {
	var xs, ys []float64
	for i, x := range m.X {
		if m.Class[i] == class && !m.stored(i) {
			xs, ys = append(xs, x[0]), append(ys, x[1])
		}
	}
	if len(xs) == 0 {
		return [2]float64{}, false
	}
	slices.Sort(xs)
	slices.Sort(ys)
	return [2]float64{xs[len(xs)/2], ys[len(ys)/2]}, true
}
