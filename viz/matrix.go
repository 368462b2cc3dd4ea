package viz

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Matrix is a table of numbers as coloured cells, the first row at the top. Cells that are NaN stay
// empty. [Plot.AddMatrix] adds it.
type Matrix struct {
	Rows    []string
	Columns []string
	Cells   [][]float64 // by row, then column; nil leaves all of them empty
	Framed  [][2]int    // cells (row, column) with a frame
	Color   func(float64) Color
	Text    func(float64) string
}

// AddMatrix adds a matrix, whose rows and columns become the ticks of the axes.
func (p *Plot) AddMatrix(m *Matrix) {
	p.X.Min, p.X.Max = -0.5, float64(len(m.Columns))-0.5
	p.Y.Min, p.Y.Max = -0.5, float64(len(m.Rows))-0.5
	p.X.Tick.Marker = thinned(placeTicks(m.Columns), 12)
	p.Y.Tick.Marker = thinned(rowTicks(m.Rows, longestRow), 24)
	p.X.Tick.Length, p.Y.Tick.Length = 0, 0
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0
	p.Add(m)
}

// Plot draws the cells, and the frames over them.
func (m *Matrix) Plot(canvas draw.Canvas, p *plot.Plot) {
	c := NewPen(canvas, p)
	cell := func(i, j int) vg.Rectangle {
		x, y, half := float64(j), rowY(len(m.Rows), i), vg.Point{X: 0.5, Y: 0.5}
		return vg.Rectangle{Min: c.At(x-0.5, y-0.5).Add(half), Max: c.At(x+0.5, y+0.5).Sub(half)}
	}
	for i, row := range m.Cells {
		for j, v := range row {
			if !math.IsNaN(v) {
				y, x, text := p.Y.Label.Text+" "+m.Rows[i], p.X.Label.Text+" "+m.Columns[j], m.Text(v)
				c.Describe("", fmt.Sprintf("%s, %s: %s", strings.TrimSpace(y), strings.TrimSpace(x), text))
				c.cell(cell(i, j), m.Color(v), text)
			}
		}
	}
	for _, at := range m.Framed {
		c.SetLineStyle(lineStyle(Ink, 1))
		c.Stroke(cell(at[0], at[1]).Path())
	}
}

// cell fills a cell, and writes its number where there is room.
func (c Pen) cell(cell vg.Rectangle, back Color, text string) {
	c.SetColor(back)
	c.Fill(cell.Path())
	sty, size := TextStyle(readable(back)), cell.Size()
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

// rowY is where the row with number i of n stands, the first at the top.
func rowY(n, i int) float64 { return float64(n - 1 - i) }

// rowTicks name rows along a vertical axis. Names wider than the limit are cut, and get the row's
// number where two would look alike.
func rowTicks(names []string, limit vg.Length) plot.ConstantTicks {
	ticks, seen := placeTicks(names), map[string]bool{}
	for i := range ticks {
		ticks[i].Value, ticks[i].Label = rowY(len(names), i), cut(names[i], limit)
		seen[ticks[i].Label] = true
	}
	for i := 0; i < len(ticks) && len(seen) < len(ticks); i++ {
		if ticks[i].Label != names[i] {
			ticks[i].Label = cut(fmt.Sprint(i+1, " ", names[i]), limit)
		}
	}
	return ticks
}

// placeTicks name the places 0, 1, 2 and so on.
func placeTicks(names []string) (ticks plot.ConstantTicks) {
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	return ticks
}
