package viz

import (
	"cmp"
	"hash/fnv"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Style is how a method looks.
type Style struct {
	Color  color.NRGBA
	Marker draw.GlyphDrawer
	Dashes []vg.Length
}

// order fixes the methods' styles: hue by place modulo the number of hues, marker and dash by the
// round. Appending keeps the styles of those before.
var order = []string{
	"emgd-gmc", "emgd-gs", "avggrad", "mgda", "er", "sum", "a-gem",
	"gradnorm", "dwa", "pcgrad", "rlw", "graddrop", "maxdo-minmax", "gem",
	"mega-1", "mega-2", "mdmtr", "der-pp", "gmed", "mir", "gss",
	"imtl-g", "cagrad", "nash-mtl", "fairgrad", "famo", "sdmgrad", "upgrad",
	"aligned-mtl", "config", "icarl", "gdumb", "dualproj", "gradvac", "imtl-l",
	"emgd",
}

var markers = []draw.GlyphDrawer{
	draw.CircleGlyph{}, polygon{4, 45}, polygon{3, 90}, polygon{4, 0}, polygon{3, -90}, polygon{5, 90}, draw.CrossGlyph{},
}

// solid are markers that stay what they are at any size.
var solid = []draw.GlyphDrawer{
	draw.CircleGlyph{}, polygon{4, 45}, polygon{3, 90}, polygon{4, 0}, polygon{3, -90},
}

var dashes = [][]vg.Length{
	nil,
	{vg.Points(5), vg.Points(2)},
	{vg.Points(1.5), vg.Points(2)},
	{vg.Points(6), vg.Points(2), vg.Points(1.5), vg.Points(2)},
	{vg.Points(9), vg.Points(3)},
}

// variantDashes mark a variant of a method.
var variantDashes = []vg.Length{vg.Points(2.5), vg.Points(2)}

// shades say how far a variant's colour is from its method's, from "+me" on. None of them makes the colour of
// another method, see [Theme.hue].
var shades = []float64{0, 0.35, 0.6}

// Method returns the style of the method of that name, for example "emgd-gmc". Of "emgd-gmc+me", with memory
// editing, it has the method's own colour and marker, but a dash; "emgd-gmc+1", "emgd-gmc+2" and so on are
// more variants, which have shades of the colour and markers of their own. A name that the package does not know gets
// one of the colours in [Theme].Own by its hash. It is the same everywhere and none that a method of the package has, but
// another unknown name may have it too. [Theme.Methods] gives the methods of one figure different styles.
func (t *Theme) Method(name string) Style {
	base, variant, varied := strings.Cut(name, "+")
	i := place(base)
	colour := i % len(t.Hues)
	if !known(base) {
		colour = t.own(base)
	}
	return t.dressed(colour, (i%len(t.Hues)+i/len(t.Hues))%len(markers), i, variant, varied)
}

func known(base string) bool { return slices.Contains(order, base) }

// ownColours is the number of the first colour of [Theme].Own.
const ownColours = 1 << 10

// own is the number of the colour that an unknown name has.
func (t *Theme) own(base string) int { return ownColours + int(hash(base)%uint32(len(t.Own))) }

func hash(base string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(base))
	return h.Sum32()
}

// place is a method's number in order; that of an unknown one lies behind the first round of hues.
func place(base string) int {
	if i := slices.Index(order, base); i >= 0 {
		return i
	}
	n := uint32(len(Light.Hues))
	return int(n + hash(base)%(n*uint32(len(dashes)-1)))
}

// dressed puts a style together: a colour by its number, a marker by its, the dashes of a method's place.
func (t *Theme) dressed(colour, marker, place int, variant string, varied bool) Style {
	s := Style{Color: t.hue(colour), Marker: markers[marker], Dashes: dashes[place/len(t.Hues)%len(dashes)]}
	if varied {
		nth, _ := strconv.Atoi(variant) // "me": 0
		nth = max(nth, 0)
		s.Color = mix(s.Color, t.far(s.Color), shades[nth%len(shades)])
		s.Dashes = variantDashes
		s.Marker = markers[(marker+nth)%len(markers)]
	}
	return s
}

// hue is the colour of a number: the hues, and from then on each once more, nearer to the ink.
func (t *Theme) hue(i int) color.NRGBA {
	if i >= ownColours {
		return t.Own[i-ownColours]
	}
	c := t.Hues[i%len(t.Hues)]
	if i/len(t.Hues)%2 == 1 {
		return mix(c, t.Ink, 0.45)
	}
	return c
}

// far is where the shades of a colour go: to the ink, but from a colour that is near to it to the background.
func (t *Theme) far(c color.NRGBA) color.NRGBA {
	if contrast(c, t.Ink) < 2 {
		return t.Background
	}
	return t.Ink
}

// Methods returns the styles of the methods of one figure, of which no two have the same colour as long as
// there are no more than 14 of them, nor the same marker up to seven; variants have shades of their method's colour.
// Each keeps the colour and marker that [Theme.Method] gives it, unless a method that comes earlier in the
// package's order has them. Methods that the package does not know have colours that none of its own has, up to ten of
// them, and the markers that are left.
func (t *Theme) Methods(names ...string) map[string]Style {
	var bases []string
	for _, name := range names {
		base, _, _ := strings.Cut(name, "+")
		if !slices.Contains(bases, base) {
			bases = append(bases, base)
		}
	}
	slices.SortStableFunc(bases, func(a, b string) int {
		switch {
		case known(a) && known(b):
			return place(a) - place(b)
		case known(a):
			return -1
		case known(b):
			return 1
		}
		return 0
	})
	own := slices.DeleteFunc(slices.Clone(bases), known)
	ours := slices.DeleteFunc(slices.Clone(bases), func(b string) bool { return !known(b) })
	colours := apart(ours, 2*len(t.Hues), known, func(b string) int { return place(b) % len(t.Hues) })
	every := func(string) bool { return true }
	for base, i := range apart(own, len(t.Own), every, func(b string) int { return t.own(b) - ownColours }) {
		colours[base] = ownColours + i
	}
	marks := apart(bases, len(markers), known, func(b string) int {
		return (place(b)%len(t.Hues) + place(b)/len(t.Hues)) % len(markers)
	})
	styles := map[string]Style{}
	for _, name := range names {
		base, variant, varied := strings.Cut(name, "+")
		styles[name] = t.dressed(colours[base], marks[base], place(base), variant, varied)
	}
	return styles
}

// apart gives each name one of n numbers: first those known the one that they wish for, as long as it is
// free, then the others the next free one after their wish, or the first. When none is left they are
// given out again.
func apart(names []string, n int, known func(string) bool, wish func(string) int) map[string]int {
	out, taken := map[string]int{}, map[int]bool{}
	for _, name := range names {
		if known(name) && !taken[wish(name)] {
			out[name] = wish(name)
			taken[wish(name)] = true
		}
	}
	for _, name := range names {
		if _, ok := out[name]; ok {
			continue
		}
		if len(taken) == n {
			clear(taken)
		}
		at := 0
		if known(name) {
			at = wish(name)
		}
		for taken[at] {
			at = (at + 1) % n
		}
		out[name], taken[at] = at, true
	}
	return out
}

func (s Style) line(width float64) draw.LineStyle {
	return draw.LineStyle{Color: s.color(), Width: vg.Points(width), Dashes: s.Dashes}
}

func (s Style) glyph(radius float64) draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.color(), Radius: vg.Points(radius), Shape: s.Marker}
}

// color is grey where none is set, which is seen in every theme.
func (s Style) color() color.NRGBA {
	return cmp.Or(s.Color, color.NRGBA{R: 128, G: 128, B: 128, A: 255})
}
