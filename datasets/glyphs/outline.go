package glyphs

import (
	"fmt"
	"math"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationmonobold"
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansitalic"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-fonts/liberation/liberationserifbold"
	"codeberg.org/go-fonts/liberation/liberationserifbolditalic"
	"codeberg.org/go-fonts/liberation/liberationserifitalic"
	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// The order of the fonts is part of what a seed means.
var fontFiles = [][]byte{
	goregular.TTF, gomedium.TTF, gobold.TTF, goitalic.TTF, gomono.TTF, gomonobolditalic.TTF,
	liberationsansregular.TTF, liberationsansbold.TTF, liberationsansitalic.TTF,
	liberationserifregular.TTF, liberationserifbold.TTF, liberationserifitalic.TTF, liberationserifbolditalic.TTF,
	liberationmonoregular.TTF, liberationmonobold.TTF,
}

// A point is in em units with y downwards, the glyph's middle at (0, 0).
type point struct{ x, y float64 }

// An outline is a character as closed polygons, fine enough to be bent.
type outline [][]point

// A face has the outlines of one font in class order.
type face [len(Classes)]outline

var loadFonts = sync.OnceValues(func() ([]face, error) {
	faces := make([]face, len(fontFiles))
	for i, ttf := range fontFiles {
		if err := faces[i].load(ttf); err != nil {
			return nil, fmt.Errorf("glyphs: font %d: %w", i, err)
		}
	}
	return faces, nil
})

func (f *face) load(ttf []byte) error {
	parsed, err := sfnt.Parse(ttf)
	if err != nil {
		return err
	}
	var buf sfnt.Buffer
	for class, char := range Classes {
		glyph, err := parsed.GlyphIndex(&buf, char)
		if err != nil {
			return err
		}
		if glyph == 0 {
			return fmt.Errorf("no glyph for %q", char)
		}
		const ppem = 1024
		segments, err := parsed.LoadGlyph(&buf, glyph, fixed.I(ppem), nil)
		if err != nil {
			return fmt.Errorf("glyph of %q: %w", char, err)
		}
		f[class] = flatten(segments, ppem*64)
		f[class].centre()
	}
	return nil
}

// flatten turns lines and curves into polygons; unit is the length of an em.
func flatten(segments sfnt.Segments, unit float64) outline {
	var o outline
	var at point
	conv := func(p fixed.Point26_6) point { return point{float64(p.X) / unit, float64(p.Y) / unit} }
	for _, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			o = append(o, nil)
			at = conv(s.Args[0])
			o.add(at)
		case sfnt.SegmentOpLineTo:
			end := conv(s.Args[0])
			o.line(at, end)
			at = end
		case sfnt.SegmentOpQuadTo:
			c, end := conv(s.Args[0]), conv(s.Args[1])
			o.cubic(at, mix(at, c, 2./3), mix(end, c, 2./3), end)
			at = end
		case sfnt.SegmentOpCubeTo:
			end := conv(s.Args[2])
			o.cubic(at, conv(s.Args[0]), conv(s.Args[1]), end)
			at = end
		}
	}
	return o
}

func mix(a, b point, t float64) point { return point{a.x + t*(b.x-a.x), a.y + t*(b.y-a.y)} }

func (o outline) add(p point) { o[len(o)-1] = append(o[len(o)-1], p) }

// line adds the way from a to b, in pieces short enough to be bent smoothly.
func (o outline) line(a, b point) {
	const piece = 0.15
	n := int(math.Ceil(math.Hypot(b.x-a.x, b.y-a.y) / piece))
	for i := 1; i <= n; i++ {
		o.add(mix(a, b, float64(i)/float64(n)))
	}
}

func (o outline) cubic(a, b, c, d point) {
	const pieces = 4
	for i := 1; i <= pieces; i++ {
		t := float64(i) / pieces
		ab, bc, cd := mix(a, b, t), mix(b, c, t), mix(c, d, t)
		o.add(mix(mix(ab, bc, t), mix(bc, cd, t), t))
	}
}

// centre moves the middle of the bounding box to the origin.
func (o outline) centre() {
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, c := range o {
		for _, p := range c {
			lo, hi = point{min(lo.x, p.x), min(lo.y, p.y)}, point{max(hi.x, p.x), max(hi.y, p.y)}
		}
	}
	mid := mix(lo, hi, 0.5)
	for _, c := range o {
		for i := range c {
			c[i] = point{c[i].x - mid.x, c[i].y - mid.y}
		}
	}
}
