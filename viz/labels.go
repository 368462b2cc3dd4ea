package viz

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// listed is an entry of a plot's key, with what it takes to write its label at the end of its
// series instead.
type listed struct {
	KeyEntry
	end    *plotter.XY // the last point of the series; nil if it has no values
	line   plotter.XYs // the points of its line, which labels do not cover; nil if no line is drawn
	spread plotter.XYs // the ends of the last point's spread, if it has one
}

const (
	swatch     vg.Length = 20 // the length of a line in the key
	swatchGap  vg.Length = 5  // and from there to its label
	entryGap   vg.Length = 14
	lineHeight vg.Length = tickSize * 1.6
)

// swatch is the width of the line or marker, if there is one.
func (e *KeyEntry) swatch() vg.Length {
	switch {
	case e.Tight:
		return vg.Points(8)
	case e.Line.Width > 0 || e.Glyph.Shape != nil:
		return swatch
	}
	return 0
}

// text is how far to the right of the swatch's left end the label begins.
func (e *KeyEntry) text() vg.Length {
	if w := e.swatch(); w > 0 {
		return w + swatchGap
	}
	return 0
}

// placeKey wraps the key to a width. It returns the left middle of each entry, from the top left
// corner on, and the height of the whole.
func (f *Figure) placeKey(width vg.Length) (places []vg.Point, height vg.Length) {
	if len(f.Key) == 0 {
		return nil, 0
	}
	at, sty := vg.Point{Y: -lineHeight / 2}, TextStyle(Ink)
	for _, e := range f.Key {
		w := e.text() + sty.Width(cut(e.Label, width-e.text()))
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
	for i, e := range f.Key {
		at := places[i].Add(vg.Point{X: c.Min.X, Y: c.Max.Y})
		box := vg.Rectangle{Min: at.Sub(vg.Point{X: 1, Y: lineHeight / 2}), Max: at.Add(vg.Point{X: -1, Y: lineHeight / 2})}
		if w := e.swatch(); w > 0 {
			box.Max.X += w + 2
		}
		f.begin(c, e.Label, nil, box, 0)
		if e.Line.Width > 0 {
			c.StrokeLine2(e.Line, at.X, at.Y, at.X+swatch, at.Y)
		}
		if e.Glyph.Shape != nil {
			c.DrawGlyphNoClip(e.Glyph, vg.Point{X: at.X + e.swatch()/2, Y: at.Y})
		}
		c.FillText(TextStyle(Ink), at.Add(vg.Point{X: e.text(), Y: lift}), cut(e.Label, c.Max.X-c.Min.X-e.text()))
	}
	return height
}

const leader vg.Length = 16 // from the right edge of the data to the text

// endLabels keeps room to the right of the data for names, and moves them apart where lines end
// close to each other.
func (p *Plot) endLabels(labels []listed) {
	sty, room := TextStyle(Ink), make(rightRoom, len(labels))
	for i, l := range labels {
		room[i] = leader + sty.Width(cut(l.Label, longestName))
	}
	slices.SortStableFunc(labels, func(a, b listed) int { return cmp.Compare(a.end.Y, b.end.Y) })
	p.Add(room)
	p.Add(Sketch(func(c Pen) {
		ys := make([]vg.Length, len(labels))
		end := func(l listed) vg.Length { return min(max(c.Y(l.end.Y), c.Min.Y), c.Max.Y) }
		for i, l := range labels {
			ys[i] = end(l)
		}
		moveApart(ys, vg.Points(tickSize*1.25), c.Min.Y, c.Max.Y)
		for i, l := range labels {
			at := vg.Point{X: c.Max.X + leader - vg.Points(5), Y: ys[i]}
			color := l.Line.Color
			if color == nil { // of points without a line
				color = l.Glyph.Color
			}
			c.Describe(l.Label, "")
			c.DrawSegment(lineStyle(color, 0.6), vg.Point{X: c.X(l.end.X), Y: end(l)}, at)
			if l.Glyph.Shape != nil {
				l.Glyph.Radius = vg.Points(2.6)
				c.DrawGlyphNoClip(l.Glyph, at)
			}
			c.write(sty, vg.Point{X: c.Max.X + leader, Y: ys[i]}, cut(l.Label, longestName))
		}
	}))
}

// namesBeside writes names of series beside points, where they cover neither these nor lines nor
// each other.
func (p *Plot) namesBeside(labels []listed) {
	p.Add(Sketch(func(c Pen) {
		var taken []vg.Rectangle
		var names []PointLabel
		for _, l := range labels {
			at := c.At(l.end.X, l.end.Y)
			taken = append(append(taken, square(at, 4)), c.along(l.line)...)
			if l.spread != nil {
				low, high, half := l.spread[0], l.spread[1], vg.Point{X: 2.5} // of the bar's caps
				taken = append(taken, spanned(c.At(low.X, low.Y).Sub(half), c.At(high.X, high.Y).Add(half)))
			}
			names = append(names, PointLabel{At: at, Text: cut(l.Label, longestName), Series: l.Label, Style: TextStyle(Ink),
				Reach: 60, Must: true})
		}
		c.DrawLabels(taken, names...)
	}))
}

// along returns small rectangles that together cover a line.
func (c Pen) along(line plotter.XYs) (areas []vg.Rectangle) {
	for i := 1; i < len(line); i++ {
		a, b := c.At(line[i-1].X, line[i-1].Y), c.At(line[i].X, line[i].Y)
		step := b.Sub(a)
		n := math.Ceil(math.Hypot(float64(step.X), float64(step.Y)) / 4)
		for k := range int(n) {
			areas = append(areas, spanned(a.Add(step.Scale(vg.Length(float64(k)/n))),
				a.Add(step.Scale(vg.Length(float64(k+1)/n)))))
		}
	}
	return areas
}

// vertical is a thin line over the whole height, with a label at its top.
type vertical struct {
	x     float64
	label string
}

func (c Pen) verticals(marks []vertical) {
	for _, m := range marks {
		if x := c.X(m.x); c.ContainsX(x) {
			c.StrokeLine2(taskEnd(), x, c.Min.Y, x, c.Max.Y)
		}
	}
	sty := TextStyle(Muted)
	for _, l := range markLabels(marks, c.Canvas, c.X, sty.Width) {
		c.DrawText(sty, vg.Point{X: l.x, Y: c.Max.Y - vg.Points(5)}, l.text)
	}
}

// taskEnd is the line of a mark.
func taskEnd() draw.LineStyle { return lineStyle(Muted, 0.5, 2, 2) }

// placed is a text and where it begins.
type placed struct {
	x    vg.Length
	text string
}

// markLabels places the marks' labels. One that the label before leaves no room for joins it: "2,
// 3".
func markLabels(marks []vertical, c draw.Canvas, trX func(float64) vg.Length,
	width func(string) vg.Length) (out []placed) {
	for _, m := range marks {
		at := trX(m.x) + vg.Points(2)
		if !c.ContainsX(at) || m.label == "" {
			continue
		}
		if n := len(out) - 1; n >= 0 && at < out[n].x+width(out[n].text)+vg.Points(2) {
			out[n].text += ", " + m.label
			continue
		}
		out = append(out, placed{at, m.label})
	}
	return out
}

// Grid returns the lines at the ticks of the vertical axis that [NewPlot] draws below everything
// else.
func Grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Vertical.Color = nil
	g.Horizontal = lineStyle(Faint, 0.5)
	return g
}
