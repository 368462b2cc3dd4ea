package viz

import (
	"cmp"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars are horizontal bars in named rows, the first at the top; row i of n is centred at the height
// n − 1 − i. [Plot.AddBars] adds them.
type Bars struct {
	Rows  []string
	Bars  []Bar
	Width float64 // a bar's share of its row's height; 0 stands for 0.76
}

// Bar is a bar between two values, with a text in it or, where there is no room, beside it.
type Bar struct {
	Row        int
	Start, End float64
	Text       string
	Above      bool // the text stands above the bar
	Color      Color
}

// AddBars adds bars, and names their rows along the vertical axis.
func (p *Plot) AddBars(b Bars) {
	p.Y.Min, p.Y.Max = -0.5, float64(len(b.Rows))-0.5
	p.Y.Tick.Marker = rowTicks(b.Rows, longestName)
	p.Y.Tick.Length, p.Y.LineStyle.Width = 0, 0
	p.Add(b)
}

// Plot draws the bars.
func (b Bars) Plot(canvas draw.Canvas, p *plot.Plot) {
	c, half := NewPen(canvas, p), cmp.Or(b.Width, 0.76)/2
	for _, it := range b.Bars {
		y := rowY(len(b.Rows), it.Row)
		low, high := c.At(it.Start, y-half), c.At(it.End, y+half)
		c.Describe("", fmt.Sprintf("%s: %s", b.Rows[it.Row], it.about()))
		c.FillRectangle(it.Color, low, high)
		c.label(it, low.X, high.X, (low.Y+high.Y)/2, high.Y-low.Y)
	}
}

// about is what a bar says: where it ends, and where it begins if that is not at 0.
func (it *Bar) about() string {
	text := fmt.Sprintf("%.4g", it.End)
	if it.Start != 0 {
		text = fmt.Sprintf("%.4g to %s", it.Start, text)
	}
	if it.Text != "" {
		text += " (" + it.Text + ")"
	}
	return text
}

// label writes into the bar where the text fits, else beside it.
func (c Pen) label(it Bar, left, right, y, height vg.Length) {
	sty := TextStyle(readable(it.Color))
	if height < sty.FontExtents().Height {
		return
	}
	if it.Above {
		sty.Color = Ink
		c.FillText(sty, vg.Point{X: left, Y: y + height/2 + sty.FontExtents().Height/2 + vg.Points(2)}, it.Text)
		return
	}
	width := sty.Width(it.Text)
	x := left + vg.Points(4)
	if right-left < width+vg.Points(8) {
		sty.Color = Ink
		if x = right + vg.Points(4); x+width > c.Max.X {
			x = left - vg.Points(4) - width
		}
	}
	c.write(sty, vg.Point{X: x, Y: y}, it.Text)
}
