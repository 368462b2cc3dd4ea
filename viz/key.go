package viz

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// keyEntry explains one line or marker above the figure.
type keyEntry struct {
	label string
	line  draw.LineStyle // drawn where its width is not 0
	glyph draw.GlyphStyle
	tight bool // a marker takes its own width, not that of a line
}

func methodKey(groups []Group, styles map[string]Style) []keyEntry {
	var key []keyEntry
	for _, g := range groups {
		s := styles[g.look]
		key = append(key, keyEntry{label: g.Label, line: s.line(1.6), glyph: s.glyph(2.8)})
	}
	return key
}

const (
	swatch     vg.Length = 20 // the length of a line in the key
	swatchGap  vg.Length = 5  // and from there to its label
	entryGap   vg.Length = 14
	lineHeight vg.Length = tickSize * 1.6
)

// swatch is the room that the line or marker takes.
func (e *keyEntry) swatch() vg.Length {
	if e.tight {
		return vg.Points(8)
	}
	return swatch
}

func (e *keyEntry) hasSwatch() bool { return e.line.Width > 0 || e.glyph.Shape != nil }

// placeKey wraps the key to a width. It returns the left middle of each entry, from the top left
// corner on, and the height of the whole.
func (f *Figure) placeKey(width vg.Length) ([]vg.Point, vg.Length) {
	if len(f.key) == 0 {
		return nil, 0
	}
	sty := f.look().text(f.look().Ink, tickSize)
	at := vg.Point{Y: -lineHeight / 2}
	var places []vg.Point
	for _, e := range f.key {
		w := sty.Width(e.label)
		if e.hasSwatch() {
			w += e.swatch() + swatchGap
		}
		if at.X > 0 && at.X+w > width {
			at = vg.Point{Y: at.Y - lineHeight}
		}
		places = append(places, at)
		at.X += w + entryGap
	}
	return places, -at.Y + lineHeight/2 + vg.Points(4)
}

// drawKey draws the key along the top of c and returns the height used.
func (f *Figure) drawKey(c draw.Canvas) vg.Length {
	places, height := f.placeKey(c.Max.X - c.Min.X)
	sty := f.look().text(f.look().Ink, tickSize)
	for i, e := range f.key {
		at := vg.Point{X: c.Min.X + places[i].X, Y: c.Max.Y + places[i].Y}
		if e.line.Width > 0 {
			c.StrokeLine2(e.line, at.X, at.Y, at.X+swatch, at.Y)
		}
		if e.glyph.Shape != nil {
			c.DrawGlyphNoClip(e.glyph, vg.Point{X: at.X + e.swatch()/2, Y: at.Y})
		}
		if e.hasSwatch() {
			at.X += e.swatch() + swatchGap
		}
		c.FillText(sty, vg.Point{X: at.X, Y: at.Y + lift}, e.label)
	}
	return height
}
