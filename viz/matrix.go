package viz

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// matrix is a table of numbers as coloured cells, the first row at the top. Cells that are NaN stay empty.
type matrix struct {
	rows    []string
	columns []string
	cells   [][]float64 // by row, then column
	outline [][2]int    // cells (row, column) with a frame
	color   func(float64) tint
	text    func(float64) string
}

func (p *Plot) matrix(m *matrix) {
	p.axes(-0.5, float64(len(m.columns))-0.5, -0.5, float64(len(m.rows))-0.5)
	p.X.Tick.Marker = thinned(placeTicks(m.columns), 12)
	p.Y.Tick.Marker = thinned(rowTicks(m.rows), 24)
	p.X.Tick.Length, p.Y.Tick.Length = 0, 0
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0
	p.sketch(func(c pen) {
		cell := func(i, j int) vg.Rectangle {
			x, y, half := float64(j), rowY(len(m.rows), i), vg.Point{X: 0.5, Y: 0.5}
			return vg.Rectangle{Min: c.at(x-0.5, y-0.5).Add(half), Max: c.at(x+0.5, y+0.5).Sub(half)}
		}
		for i, row := range m.cells {
			for j, v := range row {
				if !math.IsNaN(v) {
					text := m.text(v)
					c.say("", "%s, %s: %s", strings.TrimSpace(p.Y.Label.Text+" "+m.rows[i]), strings.TrimSpace(p.X.Label.Text+" "+m.columns[j]), text)
					c.cell(cell(i, j), m.color(v), text)
				}
			}
		}
		for _, at := range m.outline {
			c.SetLineStyle(lineStyle(ink, 1))
			c.Stroke(cell(at[0], at[1]).Path())
		}
	})
}

// cell fills a cell, and writes its number where there is room.
func (c pen) cell(cell vg.Rectangle, back tint, text string) {
	c.SetColor(back)
	c.Fill(cell.Path())
	sty, size := textStyle(readable(back), tickSize), cell.Size()
	sty.XAlign = draw.XCenter
	if sty.Width(text) <= size.X-1 && sty.FontExtents().Height <= size.Y+2 {
		c.write(sty, vg.Point{X: (cell.Min.X + cell.Max.X) / 2, Y: (cell.Min.Y + cell.Max.Y) / 2}, text)
	}
}

// thinned keeps about n labels, evenly.
func thinned(ticks plot.ConstantTicks, n int) plot.ConstantTicks {
	every := (len(ticks) + n - 1) / n
	for i := range ticks {
		if i%every != 0 {
			ticks[i].Label = ""
		}
	}
	return ticks
}

// diverging colours −1 … 0 … 1 from the first hue over the grid's grey to the second.
func diverging(v float64) tint {
	if v < 0 {
		return mix(rules, hues[0], min(1, -v))
	}
	return mix(rules, hues[1], min(1, v))
}

// sequential colours 0 … 1 from the grid's grey to the second hue.
func sequential(v float64) tint {
	return mix(rules, hues[1], min(1, max(0, v)))
}

// swatchKey explains a colour.
func swatchKey(label string, c tint) keyEntry {
	return keyEntry{label: label, line: lineStyle(c, 8)}
}
