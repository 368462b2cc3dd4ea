package viz

import (
	"cmp"
	"hash/fnv"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Style is the look of a series. The zero value stands for the look that [MethodStyles] gives its
// name.
type Style struct {
	Color  color.Color
	Marker draw.GlyphDrawer
	Dashes []vg.Length
	Width  vg.Length // of the line; 0 stands for 1.6 points
}

// order gives the methods their looks for good. The first method has a colour of its own. The
// others take the fourteen colours of [SeriesColor] in turn, and dashes and markers change every
// seven methods. Methods that are drawn most come first, so that two that share a colour seldom
// meet. Appending a method keeps the looks of those before.
var order = []string{
	"emgd",
	"emgd-gmc", "emgd-gs", "avggrad", "mgda", "er", "sum", "a-gem",
	"gdumb", "der-pp", "pcgrad", "mir", "gmed", "cagrad", "gem",
	"mega-2", "mdmtr", "rlw", "graddrop", "gradnorm", "gss", "mega-1",
	"imtl-g", "dwa", "nash-mtl", "fairgrad", "famo", "sdmgrad", "upgrad",
	"aligned-mtl", "config", "icarl", "maxdo-minmax", "dualproj", "gradvac", "imtl-l",
}

var markers = []draw.GlyphDrawer{
	draw.CircleGlyph{}, polygon{4, 45}, polygon{3, 90}, polygon{4, 0}, polygon{3, -90}, polygon{5, 90}, draw.CrossGlyph{},
}

// hollow are the markers of the methods that share their colour with one of the first seven: each
// is the outline of another's marker, so that no two methods of one figure have to be told apart by
// colour alone.
var hollow = []draw.GlyphDrawer{
	outlineOf{polygon{24, 0}}, outlineOf{polygon{4, 45}}, outlineOf{polygon{3, 90}}, outlineOf{polygon{4, 0}},
	outlineOf{polygon{3, -90}}, outlineOf{polygon{5, 90}}, draw.PlusGlyph{},
}

// solid are markers that stay what they are at any size.
var solid = markers[:5]

var dashes = [][]vg.Length{
	nil,
	{vg.Points(5), vg.Points(2)},
	{vg.Points(1.5), vg.Points(2)},
	{vg.Points(6), vg.Points(2), vg.Points(1.5), vg.Points(2)},
	{vg.Points(9), vg.Points(3)},
}

// variantDashes mark a variant of a method.
var variantDashes = []vg.Length{vg.Points(2.5), vg.Points(2)}

// shades say how far a variant's colour is from its method's. None of them makes the colour of
// another method, see Hue.
var shades = []float64{0, 0.35, 0.6}

// MethodStyle returns the style of a method, for example "emgd-gmc", which is the same in every
// figure. A composition such as "emgd-gmc+der-pp" has the style of its rule. An unknown name gets
// one of nine colours, chosen by its hash: always the same, and not the colour of a method of this
// library, but perhaps that of another unknown name. [MethodStyles] avoids that.
func MethodStyle(name string) Style { return MethodStyles(name)[name] }

// MethodStyles returns a style for each method of one figure. Known methods get their fixed style;
// styles that share a colour differ in marker and dashes. Up to nine unknown ones get colours that
// differ. Methods that share a rule get shades of its colour, dashes and other markers.
func MethodStyles(names ...string) map[string]Style {
	styles, each := map[string]Style{}, slices.Compact(slices.Sorted(slices.Values(names)))
	slices.SortStableFunc(each, func(a, b string) int { // plain rules first
		return cmp.Or(cmp.Compare(strings.Count(a, "+"), strings.Count(b, "+")),
			cmp.Compare(slices.Index(names, a), slices.Index(names, b)))
	})
	for i, style := range Styles(each) {
		styles[each[i]] = style
	}
	return styles
}

// Styles returns a style for each method of a figure, no two of them equal. The first with a rule
// has the rule's look; others with the same rule, such as other parameters, a composition or a
// variant, have shades of it. If variants are given, one for each method, only a method that is not
// a variant has the rule's look.
func Styles(methods []string, variants ...bool) (styles []Style) {
	places, plain, others, taken := map[string]int{}, map[string]bool{}, map[string]int{}, map[int]bool{}
	for i, method := range methods {
		rule, _, _ := strings.Cut(method, "+")
		if _, seen := places[rule]; !seen {
			places[rule] = placeOf(rule, taken)
		}
		if !plain[rule] && (variants == nil || !variants[i]) {
			plain[rule], styles = true, append(styles, styleAt(places[rule], 0))
			continue
		}
		others[rule]++
		styles = append(styles, styleAt(places[rule], others[rule]))
	}
	return styles
}

// placeOf is the place of a rule in order. A rule that is not there gets a place behind the last
// one, which stands for one of the colours of own: by the hash of its name, the next one that is
// free.
func placeOf(rule string, taken map[int]bool) int {
	if place := slices.Index(order, rule); place >= 0 {
		return place
	}
	h := fnv.New32a()
	h.Write([]byte(rule))
	place := int(h.Sum32() % uint32(len(own)))
	for taken[place] && len(taken) < len(own) {
		place = (place + 1) % len(own)
	}
	taken[place] = true
	return len(order) + place
}

// styleAt is the style of a method's place or, with a number above 0, that of a variant.
func styleAt(place, nth int) Style {
	look := place - 1 // where hues, markers and dashes begin
	var colour Color
	switch {
	case place == 0:
		colour, look = recommended, 5
	case place < len(order):
		colour = SeriesColor(look)
	default:
		colour = own[place-len(order)]
	}
	marker, round, shapes := look%len(hues)+look/len(hues), look/len(hues), markers
	if round == 1 {
		marker, shapes = look%len(hues), hollow
	}
	s := Style{Dashes: dashes[round%len(dashes)]}
	if nth > 0 {
		colour = colour.Mix(far(colour), shades[nth%len(shades)])
		s.Dashes = variantDashes
	}
	s.Color, s.Marker = colour, shapes[(marker+nth)%len(shapes)]
	return s
}

// far is the colour that shades of c are mixed with: the ink, or the background if c is close to
// the ink already.
func far(c Color) Color {
	of := func(c, ink, paper color.NRGBA) color.NRGBA {
		if contrast(c, ink) < 2 {
			return paper
		}
		return ink
	}
	return Color{of(c.Light, Ink.Light, Background.Light), of(c.Dark, Ink.Dark, Background.Dark)}
}

// LineStyle returns the style of the series' line.
func (s Style) LineStyle() draw.LineStyle {
	return draw.LineStyle{Color: s.color(), Width: cmp.Or(s.Width, 1.6), Dashes: s.Dashes}
}

// GlyphStyle returns the series' marker with a radius in points.
func (s Style) GlyphStyle(radius float64) draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.color(), Radius: vg.Points(radius), Shape: s.Marker}
}

// color is grey where none is set, which is seen on every background.
func (s Style) color() Color {
	if s.Color == nil {
		return LightDark(0x808080, 0x808080)
	}
	return ColorOf(s.Color)
}

// polygon is a filled regular polygon as a marker: the first corner lies at an angle in degrees.
type polygon struct {
	corners int
	angle   float64
}

func (g polygon) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	c.SetColor(sty.Color)
	c.Fill(g.path(sty, pt))
}

func (g polygon) path(sty draw.GlyphStyle, pt vg.Point) vg.Path {
	// Fewer corners enclose less: a longer radius makes up for it.
	radius := float64(sty.Radius) * (1 + 0.6/float64(g.corners-1))
	var path vg.Path
	for i := range g.corners {
		sin, cos := math.Sincos((g.angle + 360*float64(i)/float64(g.corners)) * math.Pi / 180)
		corner := vg.Point{X: pt.X + vg.Length(radius*cos), Y: pt.Y + vg.Length(radius*sin)}
		if i == 0 {
			path.Move(corner)
		} else {
			path.Line(corner)
		}
	}
	path.Close()
	return path
}

// outlineOf draws the outline of a polygon over a plate that covers the line behind it.
type outlineOf struct{ polygon }

func (g outlineOf) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	c.SetColor(Background)
	c.Fill(g.path(sty, pt))
	c.SetLineStyle(lineStyle(sty.Color, 0.45*float64(sty.Radius)))
	c.Stroke(g.path(sty, pt))
}
