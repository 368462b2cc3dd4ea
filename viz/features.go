package viz

import (
	"errors"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// FeatureMap holds features of one model, reduced to two dimensions, for example by t-SNE.
type FeatureMap struct {
	Title     string // for example "early, EMGD"
	X         [][2]float64
	Class     []int  // of each point
	Rehearsal []bool // points of stored samples; nil for none
	// Cosine has each class's mean cosine of its rehearsal samples to the class mean, as
	// [RehearsalCosine] returns it; nil leaves the bars out.
	Cosine map[int]float64
	// Baseline has, in the same way, their mean cosine to the means of the other classes, as
	// [RehearsalBaseline] returns it: what Cosine is worth. nil leaves it out.
	Baseline map[int]float64
}

// Features draws maps side by side (the paper's Fig. 9). It must show whether the rehearsal samples still lie where their classes
// lie: test samples are small marks, rehearsal samples large ones with a rim, and a class's name is at the median of its marks.
// Up to 70 classes have their own combination of colour and marker. If all maps have cosines, the mean cosine of the rehearsal
// samples to their class mean is drawn below, with a mark for each class and a ring for the baseline: only what lies above that
// says something about the class. names has the classes' names; a class without one is shown by its number.
func Features(t *Theme, names map[int]string, features ...FeatureMap) (*Figure, error) {
	classes := map[int]int{} // the place of each class, for its colour
	withBars, withBaseline := true, false
	for _, m := range features {
		m.check()
		for _, c := range m.Class {
			classes[c] = 0
		}
		withBars, withBaseline = withBars && len(m.Cosine) > 0, withBaseline || len(m.Baseline) > 0
	}
	for place, c := range sortedKeys(classes) {
		classes[c] = place
	}
	l := layout{name: "features", data: featureTable(features, names), key: classKey(t, classes, names),
		alt: fmt.Sprintf("Two-dimensional maps of the features of %d classes, in %d states of the model, with the rehearsal samples.", len(classes), len(features))}
	var plots []*Plot
	for i := range features {
		p := t.panel(features[i].Title, "", "")
		p.HideAxes()
		p.featureMap(&features[i], classes, names)
		plots = append(plots, p)
	}
	rows := inRows(plots)
	share := slices.Repeat([]float64{mapHeight}, len(rows))
	if withBars {
		rows = append(rows, []*Plot{t.cosinePlot(features, classes)})
		share = append(share, float64(50+24*len(features)))
		if withBaseline {
			ring := draw.GlyphStyle{Color: t.Muted, Radius: 2.4, Shape: draw.RingGlyph{}}
			l.key = slices.Insert(l.key, 2, keyEntry{label: "cosine to the means of other classes", glyph: ring})
		}
	}
	for _, s := range share {
		l.height += vg.Length(s)
	}
	l.share = share
	return t.figure(l, rows...)
}

const mapHeight = 230

// classKey explains the marks, and names the classes as far as there is room.
func classKey(t *Theme, places map[int]int, names map[int]string) []keyEntry {
	key := []keyEntry{
		{label: "test sample", glyph: draw.GlyphStyle{Color: t.Muted, Radius: 2, Shape: solid[0]}},
		{label: "rehearsal sample", glyph: draw.GlyphStyle{Color: t.Muted, Radius: 3.6, Shape: rimmed{t.Ink, solid[0]}}},
	}
	if len(places) > 30 {
		return key
	}
	for _, class := range sortedKeys(places) {
		key = append(key, keyEntry{label: className(names, class), glyph: classGlyph(t, places[class], 3), tight: true})
	}
	return key
}

func featureTable(features []FeatureMap, names map[int]string) Table {
	data := Table{Head: []string{"map", "x", "y", "class", "rehearsal", "mean_cosine_of_class", "mean_cosine_to_other_classes"}}
	of := func(m map[int]float64, class int) any {
		if v, ok := m[class]; ok {
			return v
		}
		return nil
	}
	for _, m := range features {
		for k, x := range m.X {
			c := m.Class[k]
			data.add(m.Title, x[0], x[1], className(names, c), m.stored(k), of(m.Cosine, c), of(m.Baseline, c))
		}
	}
	return data
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
		panic(fmt.Sprintf("viz: a feature map has %d points, %d classes and %d rehearsal marks; want one of each a point", n, len(m.Class), len(m.Rehearsal)))
	}
}

// RehearsalCosine returns for each class with rehearsal samples their mean cosine to the mean of the class's other samples.
// features holds one vector a sample. It panics if the slices differ in length.
func RehearsalCosine(features [][]float64, class []int, rehearsal []bool) (map[int]float64, error) {
	return rehearsalCosine(features, class, rehearsal, func(sample, mean int) bool { return sample == mean })
}

// RehearsalBaseline returns for each class with rehearsal samples their mean cosine to the means of all other classes: the
// value that Cosine has without belonging to the class. It is large for features that are never negative, as after a ReLU.
func RehearsalBaseline(features [][]float64, class []int, rehearsal []bool) (map[int]float64, error) {
	return rehearsalCosine(features, class, rehearsal, func(sample, mean int) bool { return sample != mean })
}

// rehearsalCosine takes the mean over the rehearsal samples of a class and the class means to compare with.
func rehearsalCosine(features [][]float64, class []int, rehearsal []bool, compare func(sample, mean int) bool) (map[int]float64, error) {
	means := map[int][]float64{} // the sums, which have the same direction
	for i, f := range features {
		if rehearsal[i] {
			continue
		}
		if means[class[i]] == nil {
			means[class[i]] = make([]float64, len(f))
		}
		floats.Add(means[class[i]], f)
	}
	cosines := map[int]results.Moment{}
	for i, f := range features {
		if !rehearsal[i] {
			continue
		}
		for _, c := range sortedKeys(means) {
			if !compare(class[i], c) {
				continue
			}
			cosine := floats.Dot(f, means[c]) / math.Sqrt(floats.Dot(f, f)*floats.Dot(means[c], means[c]))
			if math.IsNaN(cosine) {
				return nil, fmt.Errorf("viz: sample %d of class %d or the mean of class %d is the zero vector, which has no cosine", i+1, class[i], c)
			}
			m := cosines[class[i]]
			m.Add(cosine)
			cosines[class[i]] = m
		}
	}
	if len(cosines) == 0 {
		return nil, errors.New("viz: no sample is marked as rehearsal, or there is no class to compare it with")
	}
	out := map[int]float64{}
	for c, m := range cosines {
		out[c] = m.Mean
	}
	return out, nil
}

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }

// classGlyph gives each class by its place a colour, one of 14, and a marker, one of five.
func classGlyph(t *Theme, place int, radius float64) draw.GlyphStyle {
	return draw.GlyphStyle{Color: t.hue(place % (2 * len(t.Hues))), Radius: vg.Points(radius), Shape: solid[place%len(solid)]}
}

// rimmed is a marker with a rim.
type rimmed struct {
	rim   color.NRGBA
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

// featureMap adds the samples of a map, the stored ones over the others, and the classes' names over both.
func (p *Plot) featureMap(m *FeatureMap, places map[int]int, names map[int]string) {
	p.axes(m.box())
	p.sketch(func(c pen) {
		c.SetLineStyle(c.theme.line(c.theme.Grid, 0.7))
		c.Stroke(c.Rectangle.Path())
		for _, stored := range []bool{false, true} {
			for i, x := range m.X {
				if m.stored(i) != stored {
					continue
				}
				sty := classGlyph(c.theme, places[m.Class[i]], 1.7)
				if stored {
					sty.Radius, sty.Shape = 3.2, rimmed{c.theme.Ink, sty.Shape}
				} else {
					faint := sty.Color.(color.NRGBA)
					faint.A = 170
					sty.Color = faint
				}
				c.say(className(names, m.Class[i]), "")
				c.DrawGlyphNoClip(sty, c.at(x[0], x[1]))
			}
		}
		sty := c.theme.text(c.theme.Ink, tickSize)
		for _, class := range sortedKeys(places) {
			if x, ok := m.median(class); ok {
				name := className(names, class)
				at := c.at(x[0], x[1])
				c.plate(sty, vg.Point{X: at.X - sty.Width(name)/2, Y: at.Y}, name)
			}
		}
	})
}

func (m *FeatureMap) box() (xmin, xmax, ymin, ymax float64) {
	var xs, ys []float64
	for _, x := range m.X {
		xs, ys = append(xs, x[0]), append(ys, x[1])
	}
	xmin, xmax = around(0.04, 1e-9, xs...)
	ymin, ymax = around(0.04, 1e-9, ys...)
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

// cosinePlot draws a bar for each map with its mean, a mark for each class and a ring for its baseline.
func (t *Theme) cosinePlot(features []FeatureMap, places map[int]int) *Plot {
	p := t.panel("", "cosine to the own class / to other classes", "")
	b := bars{wide: 0.6}
	var marks []dot
	var ys []float64
	var texts []string
	low := 0.0
	for i := range features {
		m, y := &features[i], rowY(len(features), i)
		mean, least := meanOf(m.Cosine)
		text := fmt.Sprintf("%.3f", mean)
		if len(m.Baseline) > 0 {
			baseline, lowest := meanOf(m.Baseline)
			text += fmt.Sprintf(" / %.3f", baseline)
			least = min(least, lowest)
		}
		low = min(low, least)
		b.rows = append(b.rows, m.Title)
		b.bars = append(b.bars, bar{row: i, end: mean, color: t.Grid})
		ys, texts = append(ys, y), append(texts, text)
		for _, class := range sortedKeys(m.Baseline) {
			ring := classGlyph(t, places[class], 2.4)
			ring.Shape = draw.RingGlyph{}
			marks = append(marks, dot{x: m.Baseline[class], y: y, glyph: ring})
		}
		for _, class := range sortedKeys(m.Cosine) {
			marks = append(marks, dot{x: m.Cosine[class], y: y, glyph: classGlyph(t, places[class], 2.4)})
		}
	}
	p.bars(b)
	p.dots(marks...)
	p.sideTexts(ys, texts)
	p.X.Min, p.X.Max = low, 1
	p.X.Tick.Marker = roundTicks{6}
	return p
}

func meanOf(values map[int]float64) (mean, least float64) {
	least = math.Inf(1)
	for _, c := range sortedKeys(values) {
		mean, least = mean+values[c]/float64(len(values)), min(least, values[c])
	}
	return mean, least
}
