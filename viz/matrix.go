package viz

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// matrix draws a table of numbers as coloured cells, the first row at the top. Cells that are NaN
// stay empty.
type matrix struct {
	theme   *Theme
	rows    []string
	columns []string
	cells   [][]float64 // by row, then column
	outline [][2]int    // cells (row, column) with a frame
	color   func(float64) color.NRGBA
	text    func(float64) string
}

func (m *matrix) addTo(p *plot.Plot) {
	p.Add(m)
	rows, columns := len(m.rows), len(m.columns)
	p.X.Min, p.X.Max = -0.5, float64(columns)-0.5
	p.Y.Min, p.Y.Max = -0.5, float64(rows)-0.5
	p.X.Tick.Marker = thinned(namedTicks(m.columns, func(j int) float64 { return float64(j) }), 12)
	p.Y.Tick.Marker = thinned(namedTicks(m.rows, m.y), 24)
	p.X.Tick.Length, p.Y.Tick.Length = 0, 0
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0
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

func (m *matrix) y(row int) float64 { return float64(len(m.rows) - 1 - row) }

func (m *matrix) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	cell := func(i, j int) vg.Rectangle {
		return vg.Rectangle{
			Min: vg.Point{X: trX(float64(j)-0.5) + 0.5, Y: trY(m.y(i)-0.5) + 0.5},
			Max: vg.Point{X: trX(float64(j)+0.5) - 0.5, Y: trY(m.y(i)+0.5) - 0.5},
		}
	}
	for i, row := range m.cells {
		for j, v := range row {
			if !math.IsNaN(v) {
				m.fill(c, cell(i, j), v)
			}
		}
	}
	for _, at := range m.outline {
		c.SetColor(m.theme.Ink)
		c.SetLineWidth(1)
		c.SetLineDash(nil, 0)
		c.Stroke(cell(at[0], at[1]).Path())
	}
}

// fill draws a cell, with its number where there is room.
func (m *matrix) fill(c draw.Canvas, cell vg.Rectangle, v float64) {
	back := m.color(v)
	c.SetColor(back)
	c.Fill(cell.Path())
	sty := m.theme.text(readableOn(back), tickSize)
	sty.XAlign = draw.XCenter
	text, size := m.text(v), cell.Size()
	if sty.Width(text) > size.X-1 || sty.FontExtents().Height > size.Y+2 {
		return
	}
	c.FillText(sty, vg.Point{X: (cell.Min.X + cell.Max.X) / 2, Y: (cell.Min.Y+cell.Max.Y)/2 + lift}, text)
}

// diverging colours −1 … 0 … 1 from the first hue over the grid's grey to the second.
func (t *Theme) diverging(v float64) color.NRGBA {
	if v < 0 {
		return mix(t.Grid, t.Hues[0], min(1, -v))
	}
	return mix(t.Grid, t.Hues[1], min(1, v))
}

// sequential colours 0 … 1 from the grid's grey to the second hue.
func (t *Theme) sequential(v float64) color.NRGBA {
	return mix(t.Grid, t.Hues[1], min(1, max(0, v)))
}

// swatchKey explains a colour.
func (t *Theme) swatchKey(label string, c color.NRGBA) keyEntry {
	return keyEntry{label: label, line: t.line(c, 8)}
}
