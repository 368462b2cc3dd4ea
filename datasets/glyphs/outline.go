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

// fonts parses the fonts, which are part of the program.
var fonts = sync.OnceValue(func() []face {
	faces := make([]face, len(fontFiles))
	for i, ttf := range fontFiles {
		faces[i].load(must(sfnt.Parse(ttf)))
	}
	return faces
})

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("glyphs: a font: %v", err))
	}
	return v
}

func (f *face) load(font *sfnt.Font) {
	const ppem = 1024
	var buf sfnt.Buffer
	for class, char := range Classes {
		glyph := must(font.GlyphIndex(&buf, char))
		f[class] = flatten(must(font.LoadGlyph(&buf, glyph, fixed.I(ppem), nil)), ppem*64)
		f[class].centre()
	}
}

// flatten turns lines and curves into polygons; unit is the length of an em.
func flatten(segments sfnt.Segments, unit float64) outline {
	var o outline
	var at point
	for _, s := range segments {
		var p [3]point
		for i, a := range s.Args {
			p[i] = point{float64(a.X) / unit, float64(a.Y) / unit}
		}
		end := p[0]
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			o = append(o, []point{end})
		case sfnt.SegmentOpLineTo:
			o.line(at, end)
		case sfnt.SegmentOpQuadTo:
			end = p[1]
			o.cubic(at, mix(at, p[0], 2./3), mix(end, p[0], 2./3), end)
		case sfnt.SegmentOpCubeTo:
			end = p[2]
			o.cubic(at, p[0], p[1], end)
		}
		at = end
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
