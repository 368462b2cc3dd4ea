package viz

import (
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// outlined draws text as shapes. The PDF canvas below it knows only the letters of Western Europe,
// would write σ and λ as others, and would put the whole font, some 200 kB, into every file.
type outlined struct{ vg.Canvas }

// FillString fills the outlines of a text's glyphs, from its left end on the baseline.
func (c outlined) FillString(face font.Face, at vg.Point, text string) {
	if face.Font.Size == 0 {
		return
	}
	var (
		buf      sfnt.Buffer
		em       = fixed.Int26_6(face.Face.UnitsPerEm()) // one unit of the font is 1/64 here
		unit     = face.Font.Size / vg.Length(em)
		previous sfnt.GlyphIndex
	)
	for i, r := range text {
		glyph := ofFont(face.Face.GlyphIndex(&buf, r))
		if kern, err := face.Face.Kern(&buf, previous, glyph, em, 0); err == nil && i > 0 {
			at.X += unit * vg.Length(kern)
		}
		if segments := ofFont(face.Face.LoadGlyph(&buf, glyph, em, nil)); len(segments) > 0 {
			// Moved there, a glyph is the same bytes wherever it stands, which makes files a third
			// as large.
			c.Push()
			c.Translate(at)
			c.Fill(outline(segments, unit))
			c.Pop()
		}
		at.X += unit * vg.Length(ofFont(face.Face.GlyphAdvance(&buf, glyph, em, 0)))
		previous = glyph
	}
}

// ofFont is what a font tells. The fonts are part of the program, so an error is one of it.
func ofFont[T any](value T, err error) T {
	if err != nil {
		panic("viz: font: " + err.Error())
	}
	return value
}

// outline is a glyph as a path.
func outline(segments sfnt.Segments, unit vg.Length) vg.Path {
	var path vg.Path
	place := func(p fixed.Point26_6) vg.Point { // in a font y points down
		return vg.Point{X: unit * vg.Length(p.X), Y: -unit * vg.Length(p.Y)}
	}
	for i, s := range segments {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				path.Close()
			}
			path.Move(place(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(place(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(place(s.Args[0]), place(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(place(s.Args[0]), place(s.Args[1]), place(s.Args[2]))
		}
	}
	path.Close()
	return path
}
