package viz

import (
	"hash/fnv"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Style is how a method looks in every figure.
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
}

var markers = []draw.GlyphDrawer{
	draw.CircleGlyph{}, polygon{4, 45}, polygon{3, 90}, polygon{4, 0}, polygon{3, -90}, polygon{5, 90}, draw.CrossGlyph{},
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

// Method returns the style of the method of that name, for example "emgd-gmc". Of "emgd-gmc+me", with
// memory editing, it has the method's own colour and marker, but a dash; "emgd-gmc+1", "emgd-gmc+2" and so
// on are more variants, which have the colour and markers of their own. A name that the package does not
// know gets one of the styles by its hash: the same everywhere, though perhaps that of another method.
func (t *Theme) Method(name string) Style {
	base, variant, varied := strings.Cut(name, "+")
	i := slices.Index(order, base)
	if i < 0 {
		h := fnv.New32a()
		h.Write([]byte(base))
		i = len(t.Hues) + int(h.Sum32()%uint32(len(t.Hues)*(len(dashes)-1)))
	}
	hue, round := i%len(t.Hues), i/len(t.Hues)
	s := Style{
		Color:  t.Hues[hue],
		Marker: markers[(hue+round)%len(markers)],
		Dashes: dashes[round%len(dashes)],
	}
	if varied {
		nth, _ := strconv.Atoi(variant) // "me": 0
		s.Dashes = variantDashes
		s.Marker = markers[(hue+round+nth)%len(markers)]
	}
	return s
}

func (s Style) line(width float64) draw.LineStyle {
	return draw.LineStyle{Color: s.Color, Width: vg.Points(width), Dashes: s.Dashes}
}

func (s Style) glyph(radius float64) draw.GlyphStyle {
	return draw.GlyphStyle{Color: s.Color, Radius: vg.Points(radius), Shape: s.Marker}
}
