package viz

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// endLabels names lines at their right ends: a plotter that keeps room to the right of the data
// and moves labels apart where lines end close to each other.
type endLabels struct {
	theme  *Theme
	labels []endLabel
}

type endLabel struct {
	x, y  float64 // where the line ends, in data coordinates
	text  string
	line  draw.LineStyle // the leader's; its width is reduced
	glyph draw.GlyphStyle
}

const leader vg.Length = 16 // from the right edge of the data to the text

func (e *endLabels) Plot(c draw.Canvas, p *plot.Plot) {
	sty := e.theme.text(e.theme.Ink, tickSize)
	trX, trY := p.Transforms(&c)
	labels := slices.Clone(e.labels)
	slices.SortStableFunc(labels, func(a, b endLabel) int { return cmp.Compare(a.y, b.y) })
	ys := make([]vg.Length, len(labels))
	for i, l := range labels {
		ys[i] = min(max(trY(l.y), c.Min.Y), c.Max.Y)
	}
	moveApart(ys, vg.Points(tickSize*1.25), c.Min.Y, c.Max.Y)
	for i, l := range labels {
		x, y := trX(l.x), min(max(trY(l.y), c.Min.Y), c.Max.Y)
		line := l.line
		line.Width, line.Dashes = vg.Points(0.6), nil
		if line.Color == nil { // of points without a line
			line.Color = l.glyph.Color
		}
		c.StrokeLine2(line, x, y, c.Max.X+leader-vg.Points(5), ys[i])
		if l.glyph.Shape != nil {
			c.DrawGlyphNoClip(l.glyph, vg.Point{X: c.Max.X + leader - vg.Points(5), Y: ys[i]})
		}
		c.FillText(sty, vg.Point{X: c.Max.X + leader, Y: ys[i] + lift}, l.text)
	}
}

// GlyphBoxes asks the plot for room on the right.
func (e *endLabels) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	sty := e.theme.text(e.theme.Ink, tickSize)
	var boxes []plot.GlyphBox
	for _, l := range e.labels {
		boxes = append(boxes, plot.GlyphBox{
			X: 1, Y: 0.5,
			Rectangle: vg.Rectangle{Max: vg.Point{X: leader + sty.Width(l.text)}},
		})
	}
	return boxes
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

// spaceOut moves sorted positions as little as it takes to have neighbours at least gap apart: the sum of the squared
// moves is the least, so that equal positions spread to both sides alike.
func spaceOut(xs []vg.Length, gap vg.Length) {
	type group struct { // neighbours at distance gap
		sum vg.Length // of where its members would be if the group began at the first of all
		n   int
	}
	mean := func(g group) vg.Length { return g.sum / vg.Length(g.n) }
	var groups []group
	for i, x := range xs {
		g := group{x - gap*vg.Length(i), 1}
		for len(groups) > 0 && mean(groups[len(groups)-1]) > mean(g) {
			last := groups[len(groups)-1]
			groups, g = groups[:len(groups)-1], group{g.sum + last.sum, g.n + last.n}
		}
		groups = append(groups, g)
	}
	i := 0
	for _, g := range groups {
		for range g.n {
			xs[i] = mean(g) + gap*vg.Length(i)
			i++
		}
	}
}
