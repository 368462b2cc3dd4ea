package viz

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// keyEntry explains one line or marker above the figure.
type keyEntry struct {
	label string
	line  draw.LineStyle // drawn where its width is not 0
	glyph draw.GlyphStyle
	tight bool        // a marker takes its own width, not that of a line
	end   *plotter.XY // where its line or points end, if it has any
	way   plotter.XYs // of its line there
}

const (
	swatch     vg.Length = 20 // the length of a line in the key
	swatchGap  vg.Length = 5  // and from there to its label
	entryGap   vg.Length = 14
	lineHeight vg.Length = tickSize * 1.6
)

// swatch is the width of the line or marker, if there is one.
func (e *keyEntry) swatch() vg.Length {
	switch {
	case e.tight:
		return vg.Points(8)
	case e.line.Width > 0 || e.glyph.Shape != nil:
		return swatch
	}
	return 0
}

// text is how far to the right of the swatch's left end the label begins.
func (e *keyEntry) text() vg.Length {
	if w := e.swatch(); w > 0 {
		return w + swatchGap
	}
	return 0
}

// placeKey wraps the key to a width. It returns the left middle of each entry, from the top left
// corner on, and the height of the whole.
func (f *Figure) placeKey(width vg.Length) (places []vg.Point, height vg.Length) {
	if len(f.key) == 0 {
		return nil, 0
	}
	at, sty := vg.Point{Y: -lineHeight / 2}, textStyle(ink, tickSize)
	for _, e := range f.key {
		w := e.text() + sty.Width(e.label)
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
	for i, e := range f.key {
		at := places[i].Add(vg.Point{X: c.Min.X, Y: c.Max.Y})
		box := vg.Rectangle{Min: at.Sub(vg.Point{X: 1, Y: lineHeight / 2}), Max: at.Add(vg.Point{X: -1, Y: lineHeight / 2})}
		if w := e.swatch(); w > 0 {
			box.Max.X += w + 2
		}
		f.begin(c, e.label, nil, box, 0)
		if e.line.Width > 0 {
			c.StrokeLine2(e.line, at.X, at.Y, at.X+swatch, at.Y)
		}
		if e.glyph.Shape != nil {
			c.DrawGlyphNoClip(e.glyph, vg.Point{X: at.X + e.swatch()/2, Y: at.Y})
		}
		c.FillText(textStyle(ink, tickSize), at.Add(vg.Point{X: e.text(), Y: lift}), e.label)
	}
	return height
}

const leader vg.Length = 16 // from the right edge of the data to the text

// endLabels keeps room to the right of the data for names, and moves them apart where lines end close to each other.
func (p *Plot) endLabels(labels []keyEntry) {
	sty, room := textStyle(ink, tickSize), make(rightRoom, len(labels))
	for i, l := range labels {
		room[i] = leader + sty.Width(l.label)
	}
	slices.SortStableFunc(labels, func(a, b keyEntry) int { return cmp.Compare(a.end.Y, b.end.Y) })
	p.Add(room)
	p.sketch(func(c pen) {
		ys := make([]vg.Length, len(labels))
		end := func(l keyEntry) vg.Length { return min(max(c.y(l.end.Y), c.Min.Y), c.Max.Y) }
		for i, l := range labels {
			ys[i] = end(l)
		}
		moveApart(ys, vg.Points(tickSize*1.25), c.Min.Y, c.Max.Y)
		for i, l := range labels {
			at := vg.Point{X: c.Max.X + leader - vg.Points(5), Y: ys[i]}
			color := l.line.Color
			if color == nil { // of points without a line
				color = l.glyph.Color
			}
			c.say(l.label, "")
			c.stroke(lineStyle(color, 0.6), vg.Point{X: c.x(l.end.X), Y: end(l)}, at)
			if l.glyph.Shape != nil {
				l.glyph.Radius = vg.Points(2.6)
				c.DrawGlyphNoClip(l.glyph, at)
			}
			c.write(sty, vg.Point{X: c.Max.X + leader, Y: ys[i]}, l.label)
		}
	})
}

// namesBeside writes names of series beside points, where they cover neither these nor lines nor each other.
func (p *Plot) namesBeside(labels []keyEntry) {
	p.sketch(func(c pen) {
		var taken []vg.Rectangle
		var names []name
		for _, l := range labels {
			at := c.at(l.end.X, l.end.Y)
			taken = append(append(taken, square(at, 3)), c.along(l.way)...)
			names = append(names, name{at: at, text: l.label, style: textStyle(ink, tickSize), reach: 60, must: true, say: l.label})
		}
		c.names(taken, names...)
	})
}

// along are small areas that cover a line.
func (c pen) along(way plotter.XYs) (areas []vg.Rectangle) {
	for i := 1; i < len(way); i++ {
		a, b := c.at(way[i-1].X, way[i-1].Y), c.at(way[i].X, way[i].Y)
		step := b.Sub(a)
		n := math.Ceil(math.Hypot(float64(step.X), float64(step.Y)) / 4)
		for k := range int(n) {
			areas = append(areas, spanned(a.Add(step.Scale(vg.Length(float64(k)/n))), a.Add(step.Scale(vg.Length(float64(k+1)/n)))))
		}
	}
	return areas
}

// moveApart moves sorted positions at least gap apart, inside [low, high] if they all fit.
func moveApart(ys []vg.Length, gap, low, high vg.Length) {
	for i := 1; i < len(ys); i++ {
		ys[i] = max(ys[i], ys[i-1]+gap)
	}
	limit := high
	for i := len(ys) - 1; i >= 0; i-- {
		ys[i] = min(ys[i], limit)
		limit = ys[i] - gap
	}
	limit = low
	for i := range ys {
		ys[i] = max(ys[i], limit)
		limit = ys[i] + gap
	}
}

// vertical is a thin line over the whole height, with a label at its top.
type vertical struct {
	x     float64
	label string
}

func (c pen) verticals(marks []vertical) {
	for _, m := range marks {
		if x := c.x(m.x); c.ContainsX(x) {
			c.StrokeLine2(taskEnd(), x, c.Min.Y, x, c.Max.Y)
		}
	}
	sty := textStyle(muted, tickSize)
	for _, l := range markLabels(marks, c.Canvas, c.x, sty.Width) {
		c.plate(sty, vg.Point{X: l.x, Y: c.Max.Y - vg.Points(5)}, l.text)
	}
}

// taskEnd is the line of a mark.
func taskEnd() draw.LineStyle { return lineStyle(muted, 0.5, 2, 2) }

// placed is a text and where it begins.
type placed struct {
	x    vg.Length
	text string
}

// markLabels places the marks' labels. One that the label before leaves no room for joins it: "2, 3".
func markLabels(marks []vertical, c draw.Canvas, trX func(float64) vg.Length, width func(string) vg.Length) (out []placed) {
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

// grid adds lines at the ticks of the vertical axis.
func (p *Plot) grid() {
	g := plotter.NewGrid()
	g.Vertical.Color = nil
	g.Horizontal = lineStyle(rules, 0.5)
	p.Add(g)
}

// band fills the area between low and high.
func (p *Plot) band(low, high plotter.XYs, s Style) {
	around := slices.Clone(high)
	for _, xy := range slices.Backward(low) {
		around = append(around, xy)
	}
	if poly, err := plotter.NewPolygon(around); p.can("", err) {
		// A mixed opaque colour would hide the lines below; a see-through one does not.
		poly.Color, poly.LineStyle.Width = opaque(s.color(), 50), 0
		p.Add(poly)
	}
}
