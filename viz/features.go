package viz

import (
	"errors"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// FeatureMap is features of one model, brought to two dimensions, for example by t-SNE.
type FeatureMap struct {
	Title     string // for example "early, EMGD"
	X         [][2]float64
	Class     []int  // of each point
	Rehearsal []bool // points of stored samples; nil for none
	// Cosine has each class's mean cosine of its rehearsal samples to the class mean, as
	// [RehearsalCosine] returns it; nil leaves the bars out.
	Cosine map[int]float64
}

// Features draws maps beside each other (the paper's Fig. 9): test samples as small dots coloured by
// class, rehearsal samples as large ones with a rim, a class's number at the median of its dots.
// Below them, where all maps have one, the mean cosine of rehearsal samples to their class mean over
// the classes, with a dot for each class. names holds the classes' names; those missing are numbers.
func Features(t *Theme, names map[int]string, features ...FeatureMap) (*Figure, error) {
	if len(features) == 0 {
		return nil, errors.New("viz: no feature maps to draw")
	}
	classes := map[int]int{} // the place of each class, for its colour
	withBars := true
	for i := range features {
		if err := features[i].check(); err != nil {
			return nil, fmt.Errorf("viz: feature map %d (%s): %w", i+1, features[i].Title, err)
		}
		for _, c := range features[i].Class {
			classes[c] = 0
		}
		withBars = withBars && len(features[i].Cosine) > 0
	}
	for place, c := range sortedKeys(classes) {
		classes[c] = place
	}
	var row []*plot.Plot
	for i := range features {
		p := t.newPlot("", "")
		p.Title.Text = features[i].Title
		p.HideAxes()
		s := &scatter{theme: t, features: &features[i], places: classes, names: names}
		p.Add(s)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = s.box()
		row = append(row, p)
	}
	f := newFigure(t, 230, fmt.Sprintf("Two-dimensional maps of the features of %d classes, in %d states of the model, with the rehearsal samples.", len(classes), len(features)), row)
	if withBars {
		f.Rows = append(f.Rows, []*plot.Plot{cosinePlot(t, features, classes)})
		extra := vg.Length(50 + 24*len(features))
		f.Share = []float64{float64(f.Height), float64(extra)}
		f.Height += extra
	}
	dot := draw.GlyphStyle{Color: t.Muted, Radius: 1.6, Shape: draw.CircleGlyph{}}
	f.key = []keyEntry{{label: "test sample", glyph: dot}, {label: "rehearsal sample (colour: class)", glyph: draw.GlyphStyle{Color: t.Muted, Radius: 3.4, Shape: rimmed{t.Ink}}}}
	return f, nil
}

func (m *FeatureMap) check() error {
	if len(m.X) == 0 || len(m.Class) != len(m.X) || m.Rehearsal != nil && len(m.Rehearsal) != len(m.X) {
		return fmt.Errorf("it has %d points, %d classes and %d rehearsal marks; want one of each a point", len(m.X), len(m.Class), len(m.Rehearsal))
	}
	for i, x := range m.X {
		if !finite(x[0]) || !finite(x[1]) {
			return fmt.Errorf("point %d is %v", i+1, x)
		}
	}
	for c, v := range m.Cosine {
		if !(math.Abs(v) <= 1+1e-9) {
			return fmt.Errorf("class %d has cosine %v; want one in [−1, 1]", c, v)
		}
	}
	return nil
}

// RehearsalCosine returns for each class with rehearsal samples their mean cosine to the mean of the
// class's other samples. features holds one vector a sample.
func RehearsalCosine(features [][]float64, class []int, rehearsal []bool) (map[int]float64, error) {
	if len(features) == 0 || len(class) != len(features) || len(rehearsal) != len(features) {
		return nil, fmt.Errorf("viz: %d features, %d classes and %d rehearsal marks; want one of each a sample", len(features), len(class), len(rehearsal))
	}
	width := len(features[0])
	means := map[int][]float64{} // or their multiples, which have the same direction
	for i, f := range features {
		if len(f) != width {
			return nil, fmt.Errorf("viz: sample %d has %d features and the first has %d", i+1, len(f), width)
		}
		if rehearsal[i] {
			continue
		}
		if means[class[i]] == nil {
			means[class[i]] = make([]float64, width)
		}
		for k, v := range f {
			means[class[i]][k] += v
		}
	}
	sums, counts := map[int]float64{}, map[int]float64{}
	for i, f := range features {
		if !rehearsal[i] {
			continue
		}
		mean := means[class[i]]
		if mean == nil {
			return nil, fmt.Errorf("viz: class %d has rehearsal samples and no others to take the mean of", class[i])
		}
		var dot, a, b float64
		for k := range f {
			dot, a, b = dot+f[k]*mean[k], a+f[k]*f[k], b+mean[k]*mean[k]
		}
		if a == 0 || b == 0 {
			return nil, fmt.Errorf("viz: sample %d of class %d or the class mean is the zero vector, which has no cosine", i+1, class[i])
		}
		sums[class[i]] += dot / math.Sqrt(a*b)
		counts[class[i]]++
	}
	if len(sums) == 0 {
		return nil, errors.New("viz: no sample is marked as rehearsal")
	}
	for c := range sums {
		sums[c] /= counts[c]
	}
	return sums, nil
}

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }

// classGlyph gives each class by its place a hue, and another marker when the hues are used up.
func classGlyph(t *Theme, place int, radius float64) draw.GlyphStyle {
	n := len(t.Hues)
	return draw.GlyphStyle{Color: t.Hues[place%n], Radius: vg.Points(radius), Shape: markers[place/n%len(markers)]}
}

// rimmed is a disc with a rim.
type rimmed struct{ rim color.NRGBA }

func (g rimmed) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	draw.CircleGlyph{}.DrawGlyph(c, sty, pt)
	c.SetLineStyle(draw.LineStyle{Color: g.rim, Width: vg.Points(0.9)})
	var path vg.Path
	path.Move(vg.Point{X: pt.X + sty.Radius, Y: pt.Y})
	path.Arc(pt, sty.Radius, 0, 2*math.Pi)
	path.Close()
	c.Stroke(path)
}

type scatter struct {
	theme    *Theme
	features *FeatureMap
	places   map[int]int
	names    map[int]string
}

func (s *scatter) stored(i int) bool { return s.features.Rehearsal != nil && s.features.Rehearsal[i] }

func (s *scatter) box() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, x := range s.features.X {
		xmin, xmax, ymin, ymax = min(xmin, x[0]), max(xmax, x[0]), min(ymin, x[1]), max(ymax, x[1])
	}
	mx, my := max(0.04*(xmax-xmin), 1e-9), max(0.04*(ymax-ymin), 1e-9)
	return xmin - mx, xmax + mx, ymin - my, ymax + my
}

func (s *scatter) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	c.SetLineStyle(s.theme.line(s.theme.Grid, 0.7))
	c.Stroke(c.Rectangle.Path())
	for _, stored := range []bool{false, true} {
		for i, x := range s.features.X {
			if s.stored(i) != stored {
				continue
			}
			sty := classGlyph(s.theme, s.places[s.features.Class[i]], 1.5)
			if stored {
				sty.Radius, sty.Shape = 3.2, rimmed{s.theme.Ink}
			} else {
				faint := sty.Color.(color.NRGBA)
				faint.A = 170
				sty.Color = faint
			}
			c.DrawGlyphNoClip(sty, vg.Point{X: trX(x[0]), Y: trY(x[1])})
		}
	}
	sty := s.theme.text(s.theme.Ink, tickSize)
	for _, class := range sortedKeys(s.places) {
		if x, ok := s.median(class); ok {
			s.theme.plated(c, vg.Point{X: trX(x[0]) - sty.Width(s.name(class))/2, Y: trY(x[1])}, s.name(class))
		}
	}
}

func (s *scatter) name(class int) string {
	if name, ok := s.names[class]; ok {
		return name
	}
	return fmt.Sprint(class)
}

// median returns the median place of a class's test samples.
func (s *scatter) median(class int) ([2]float64, bool) {
	var xs, ys []float64
	for i, x := range s.features.X {
		if s.features.Class[i] == class && !s.stored(i) {
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

// cosinePlot draws a bar for each map.
func cosinePlot(t *Theme, features []FeatureMap, places map[int]int) *plot.Plot {
	p := t.newPlot("cosine of rehearsal samples to their class mean", "")
	b := &bars{theme: t, wide: 0.6}
	dots := &classDots{theme: t, bars: b, places: places}
	low := 0.0
	for i := range features {
		mean := 0.0
		for _, c := range sortedKeys(features[i].Cosine) {
			v := features[i].Cosine[c]
			mean += v / float64(len(features[i].Cosine))
			low = min(low, v)
		}
		b.rows = append(b.rows, features[i].Title)
		b.bars = append(b.bars, bar{row: i, end: mean, color: t.Grid})
		dots.cosines = append(dots.cosines, features[i].Cosine)
		dots.texts = append(dots.texts, fmt.Sprintf("%.3f", mean))
	}
	b.addTo(p)
	p.Add(dots)
	p.X.Min, p.X.Max = low, 1
	p.X.Tick.Marker = roundTicks{6}
	return p
}

// classDots puts a glyph for each class onto the bars, and the mean at the right.
type classDots struct {
	theme   *Theme
	bars    *bars
	places  map[int]int
	cosines []map[int]float64
	texts   []string
}

func (d *classDots) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	sty := d.theme.text(d.theme.Ink, tickSize-1)
	for i, cosines := range d.cosines {
		y := trY(d.bars.y(i))
		for _, class := range sortedKeys(cosines) {
			c.DrawGlyphNoClip(classGlyph(d.theme, d.places[class], 2.2), vg.Point{X: trX(cosines[class]), Y: y})
		}
		c.FillText(sty, vg.Point{X: c.Max.X + vg.Points(4), Y: y + lift}, d.texts[i])
	}
}

// GlyphBoxes asks the plot for room on the right.
func (d *classDots) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	sty := d.theme.text(d.theme.Ink, tickSize-1)
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: vg.Points(6) + sty.Width("−0.000")}}}}
}
