package viz

import (
	"cmp"
	"fmt"

	"gonum.org/v1/plot/vg"
)

// bars are horizontal bars in named rows, the first at the top.
type bars struct {
	rows []string
	bars []bar
	wide float64 // a bar's share of its row's height; 0 is 0.76
}

type bar struct {
	row        int
	text       string
	start, end float64
	color      tint
	above      bool // the text stands above the bar
}

// bars adds bars and names their rows along the vertical axis.
func (p *Plot) bars(b bars) {
	n := len(b.rows)
	p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5
	p.Y.Tick.Marker = rowTicks(b.rows)
	p.Y.Tick.Length, p.Y.LineStyle.Width = 0, 0
	half := cmp.Or(b.wide, 0.76) / 2
	p.sketch(func(c pen) {
		for _, it := range b.bars {
			y := rowY(n, it.row)
			low, high, left, right := c.y(y-half), c.y(y+half), c.x(it.start), c.x(it.end)
			c.say("", "%s: %s", b.rows[it.row], it.about())
			c.fill(it.color, left, right, low, high)
			c.label(it, left, right, (low+high)/2, high-low)
		}
	})
}

// about is what a bar says: where it ends, and where it begins if that is not at 0.
func (it *bar) about() string {
	text := fmt.Sprintf("%.4g", it.end)
	if it.start != 0 {
		text = fmt.Sprintf("%.4g to %s", it.start, text)
	}
	if it.text != "" {
		text += " (" + it.text + ")"
	}
	return text
}

// label writes into the bar where the text fits, else beside it.
func (c pen) label(it bar, left, right, y, height vg.Length) {
	sty := textStyle(readable(it.color), tickSize)
	if height < sty.FontExtents().Height {
		return
	}
	if it.above {
		sty.Color = ink
		c.FillText(sty, vg.Point{X: left, Y: y + height/2 + sty.FontExtents().Height/2 + vg.Points(2)}, it.text)
		return
	}
	width := sty.Width(it.text)
	x := left + vg.Points(4)
	if right-left < width+vg.Points(8) {
		sty.Color = ink
		if x = right + vg.Points(4); x+width > c.Max.X {
			x = left - vg.Points(4) - width
		}
	}
	c.write(sty, vg.Point{X: x, Y: y}, it.text)
}
