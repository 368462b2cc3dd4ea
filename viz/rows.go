package viz

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
	color      color.NRGBA
	inside     bool // the text is left out rather than written beside the bar
	above      bool // the text stands above the bar
}

// bars adds bars and names their rows along the vertical axis.
func (p *Plot) bars(b bars) {
	p.rows(b.rows)
	half := 0.38
	if b.wide > 0 {
		half = b.wide / 2
	}
	p.sketch(func(c pen) {
		for _, it := range b.bars {
			y := rowY(len(b.rows), it.row)
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
	sty := c.theme.text(readable{it.color}, tickSize)
	if height < sty.FontExtents().Height {
		return
	}
	if it.above {
		sty.Color = c.theme.Ink
		c.FillText(sty, vg.Point{X: left, Y: y + height/2 + sty.FontExtents().Height/2 + vg.Points(2)}, it.text)
		return
	}
	width := sty.Width(it.text)
	x := left + vg.Points(4)
	if right-left < width+vg.Points(8) {
		if it.inside {
			return
		}
		sty.Color = c.theme.Ink
		if x = right + vg.Points(4); x+width > c.Max.X {
			x = left - vg.Points(4) - width
		}
	}
	c.write(sty, vg.Point{X: x, Y: y}, it.text)
}

// dotRows are values in named rows, the first at the top, on both sides of 0: the single ones small and pale, their mean
// large, and a text at the right.
type dotRows struct {
	rows  []string
	items []dotRow
}

type dotRow struct {
	row    int
	shift  float64 // downwards from the middle of the row, in rows
	values []float64
	mean   draw.GlyphStyle
	text   string
}

// kindRows are dotRows with values of several kinds in each row, a little apart.
type kindRows struct {
	dotRows
	kinds  []keyEntry // whose glyphs mark the means
	span   float64    // from the first kind to the last, in rows
	format string     // of a mean
}

// gather adds a row with the values of each kind for each label, in the order of the first of each.
func (d *kindRows) gather(n int, value func(i int) (label string, kind int, v float64)) {
	var labels []string
	of := map[string][][]float64{}
	for i := range n {
		label, kind, v := value(i)
		if labels = once(labels, label); of[label] == nil {
			of[label] = make([][]float64, len(d.kinds))
		}
		if !math.IsNaN(v) {
			of[label][kind] = append(of[label][kind], v)
		}
	}
	for _, label := range labels {
		d.add(label, of[label]...)
	}
}

// add adds a row with the values of each kind, of which there may be none.
func (d *kindRows) add(name string, values ...[]float64) {
	for k, of := range values {
		if len(of) > 0 {
			mean, _ := meanStd(of)
			shift := d.span * (float64(k)/float64(max(1, len(values)-1)) - 0.5)
			if len(values) == 1 {
				shift = 0
			}
			d.items = append(d.items, dotRow{row: len(d.rows), shift: shift, mean: d.kinds[k].glyph, values: of, text: fmt.Sprintf(d.format, mean)})
		}
	}
	d.rows = append(d.rows, name)
}

// dotRows adds the rows and names them along the vertical axis.
func (p *Plot) dotRows(d dotRows) {
	p.rows(d.rows)
	low, high := 0.0, 0.0
	var ys []float64
	var texts []string
	at := func(it dotRow) float64 { return rowY(len(d.rows), it.row) - it.shift }
	for _, it := range d.items {
		p.tell(fmt.Sprint(len(ys)), strings.TrimSpace(d.rows[it.row]+" "+it.text))
		low, high = min(low, slices.Min(it.values)), max(high, slices.Max(it.values))
		ys, texts = append(ys, at(it)), append(texts, it.text)
	}
	if high-low < 1e-9 { // all values are equal but for rounding
		high = low + 1
	}
	room := 0.04 * (high - low)
	p.X.Min, p.X.Max = low-room, high+room
	p.X.Tick.Marker = roundTicks{5}
	p.sketch(func(c pen) {
		for i := range d.rows { // a line for the eye to follow
			y := c.y(rowY(len(d.rows), i))
			c.StrokeLine2(c.theme.line(c.theme.Grid, 0.6), c.Min.X, y, c.Max.X, y)
		}
		c.StrokeLine2(c.theme.line(c.theme.Muted, 0.9), c.x(0), c.Min.Y, c.x(0), c.Max.Y)
		for _, it := range d.items {
			single := draw.GlyphStyle{Radius: vg.Points(1.6), Shape: draw.CircleGlyph{}}
			single.Color = mix(c.theme.Background, it.mean.Color.(color.NRGBA), 0.5)
			for _, v := range it.values {
				c.say(d.rows[it.row], "%s: %.4g", d.rows[it.row], v)
				c.DrawGlyphNoClip(single, c.at(v, at(it)))
			}
			mean, std := meanStd(it.values)
			c.say(d.rows[it.row], "%s: mean %s of %d, standard deviation %.3g", d.rows[it.row], it.text, len(it.values), std)
			c.DrawGlyphNoClip(it.mean, c.at(mean, at(it)))
		}
	})
	p.sideTexts(ys, texts)
}

// kindGlyph is the marker of one kind of values; the key names it.
func kindGlyph(c color.Color, shape draw.GlyphDrawer) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: vg.Points(3.6), Shape: shape}
}

var paleRuns = keyEntry{label: "(pale: single runs)"}
