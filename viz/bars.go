package viz

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// bars draws horizontal bars in named rows, the first at the top.
type bars struct {
	theme *Theme
	rows  []string
	bars  []bar
	wide  float64 // a bar's share of its row's height; 0 is 0.76
}

type bar struct {
	row        int
	text       string
	start, end float64
	color      color.NRGBA
	inside     bool // the text is left out rather than written beside the bar
	above      bool // the text stands above the bar
}

// addTo adds the bars to a plot and names the rows along its vertical axis.
func (b *bars) addTo(p *plot.Plot) {
	p.Add(b)
	p.Y.Min, p.Y.Max = -0.5, float64(len(b.rows))-0.5
	p.Y.Tick.Marker = namedTicks(b.rows, b.y)
	p.Y.Tick.Length, p.Y.LineStyle.Width = 0, 0
}

func (b *bars) y(row int) float64 { return float64(len(b.rows) - 1 - row) }

func namedTicks(names []string, at func(int) float64) plot.ConstantTicks {
	var ticks []plot.Tick
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: at(i), Label: name})
	}
	return ticks
}

func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	half := 0.38
	if b.wide > 0 {
		half = b.wide / 2
	}
	for _, it := range b.bars {
		low, high := trY(b.y(it.row)-half), trY(b.y(it.row)+half)
		left, right := trX(it.start), trX(it.end)
		c.FillPolygon(it.color, []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}})
		b.label(c, it, left, right, (low+high)/2, high-low)
	}
}

// label writes into the bar where the text fits, else beside it.
func (b *bars) label(c draw.Canvas, it bar, left, right, y, height vg.Length) {
	sty := b.theme.text(readableOn(it.color), tickSize)
	if height < sty.FontExtents().Height {
		return
	}
	if it.above {
		sty.Color = b.theme.Ink
		c.FillText(sty, vg.Point{X: left, Y: y + height/2 + sty.FontExtents().Height/2 + vg.Points(2)}, it.text)
		return
	}
	width := sty.Width(it.text)
	x := left + vg.Points(4)
	if right-left < width+vg.Points(8) {
		if it.inside {
			return
		}
		sty.Color = b.theme.Ink
		if x = right + vg.Points(4); x+width > c.Max.X {
			x = left - vg.Points(4) - width
		}
	}
	c.FillText(sty, vg.Point{X: x, Y: y + lift}, it.text)
}
