package viz

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// TradeOff draws each method as a point: to the right its mean final accuracy A where the task is known, upwards that
// where all classes compete, in a panel for each data set. The methods that no other one reaches in both are filled; a
// line from one to the next, the Pareto front, bounds what was reached. It must show whether one method is best in
// both, and if not, what one has to give up for the other. Methods are named where there is room, those on the front
// always. A method that is far behind all others, by 1.5 times the distance of the quartiles from the lower one, is
// left out of the picture, which says so, but not of its data.
func TradeOff(t *Theme, runs ...*results.Run) (*Figure, error) {
	parts, err := settings(runs)
	if err != nil {
		return nil, err
	}
	var plots []*plot.Plot
	data := Table{Head: []string{"dataset", "method", "task_accuracy_percent", "task_std_percent", "class_accuracy_percent", "class_std_percent", "on_front"}}
	for _, task := range parts {
		i := slices.IndexFunc(parts, func(s setting) bool {
			return s.runs[0].Dataset == task.runs[0].Dataset && s.runs[0].Increment != task.runs[0].Increment
		})
		if task.runs[0].Increment != "task" || i < 0 {
			continue
		}
		both, err := tradesOf(task.runs, parts[i].runs)
		if err != nil {
			return nil, err
		}
		if len(both) == 0 {
			continue
		}
		for _, b := range both {
			data.add(task.runs[0].Dataset, b.label, b.task, b.taskStd, b.class, b.classStd, b.front)
		}
		p := t.newPlot("A, task known, %", "A, all classes compete, %")
		p.Title.Text = task.runs[0].Dataset
		p.Add(t.horizontals(), newTrades(t, both))
		plots = append(plots, p)
	}
	if len(plots) == 0 {
		return nil, errors.New("viz: no method has runs of one data set in both increments")
	}
	f := newFigure(t, 0, fmt.Sprintf("Accuracy when all classes compete against accuracy when the task is known, of the methods on %d data sets.", len(plots)), panels(plots)...)
	f.Height = 330 * rowsOf(f)
	f.key = []keyEntry{
		{label: "no other method reaches it in both", line: t.line(t.Hues[1], 1, 4, 2), glyph: t.tradeGlyph(true)},
		{label: "the others", glyph: t.tradeGlyph(false), tight: true},
	}
	return f.holding("trade-off", data), nil
}

// trade is what a method reaches in both increments, in percent.
type trade struct {
	label                          string
	task, taskStd, class, classStd float64
	front                          bool
}

func (t *Theme) tradeGlyph(front bool) draw.GlyphStyle {
	if front {
		return draw.GlyphStyle{Color: t.Hues[1], Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
	}
	return draw.GlyphStyle{Color: t.Muted, Radius: vg.Points(2.4), Shape: draw.RingGlyph{}}
}

// tradesOf returns the methods that have runs in both increments, the best class-incremental one first.
func tradesOf(task, class []*results.Run) (out []trade, err error) {
	byTask, err := Groups(task)
	if err != nil {
		return nil, err
	}
	byClass, err := Groups(class)
	if err != nil {
		return nil, err
	}
	for _, g := range byTask {
		i := slices.IndexFunc(byClass, func(o Group) bool { return o.Label == g.Label })
		if i < 0 {
			continue
		}
		m := trade{label: g.Label}
		m.task, m.taskStd = meanStd(finals(g.Runs))
		m.class, m.classStd = meanStd(finals(byClass[i].Runs))
		out = append(out, m)
	}
	for i := range out {
		out[i].front = !slices.ContainsFunc(out, out[i].behind)
	}
	slices.SortStableFunc(out, func(a, b trade) int { return cmp.Or(cmp.Compare(b.class, a.class), cmp.Compare(b.task, a.task)) })
	return out, nil
}

// behind says whether another method is at least as good in both, and better in one.
func (m trade) behind(o trade) bool {
	return o.task >= m.task && o.class >= m.class && (o.task > m.task || o.class > m.class)
}

func finals(runs []*results.Run) (out []float64) {
	for _, r := range runs {
		out = append(out, r.A)
	}
	return out
}

// trades is a plotter of methods as points, with the line of the front and names.
type trades struct {
	theme   *Theme
	front   []trade // in the order of falling class-incremental accuracy
	others  []trade
	without int // methods that are too far away
}

func newTrades(t *Theme, all []trade) *trades {
	out := &trades{theme: t}
	var x, y []float64
	for _, m := range all {
		x, y = append(x, m.task), append(y, m.class)
	}
	left, bottom := fence(x), fence(y)
	for _, m := range all {
		switch {
		case m.front:
			out.front = append(out.front, m)
		case m.task < left || m.class < bottom:
			out.without++
		default:
			out.others = append(out.others, m)
		}
	}
	return out
}

// shown are the methods in the picture. Those of the front come first, so that they are named first.
func (m *trades) shown() []trade { return slices.Concat(m.front, m.others) }

// fence is J. Tukey's: what is below it is far from the others.
func fence(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	low, high := stat.Quantile(0.25, stat.LinInterp, sorted, nil), stat.Quantile(0.75, stat.LinInterp, sorted, nil)
	return low - 1.5*(high-low)
}

// DataRange has room for names around the points.
func (m *trades) DataRange() (xmin, xmax, ymin, ymax float64) {
	var xys plotter.XYs
	for _, s := range m.shown() {
		xys = append(xys, plotter.XY{X: s.task, Y: s.class})
	}
	xmin, xmax, ymin, ymax = plotter.XYRange(xys)
	dx, dy := max(0.5, 0.08*(xmax-xmin)), max(0.5, 0.08*(ymax-ymin))
	return xmin - dx, xmax + dx, ymin - dy, ymax + dy
}

func (m *trades) Plot(c draw.Canvas, p *plot.Plot) {
	trX, trY := p.Transforms(&c)
	at := func(s trade) vg.Point { return vg.Point{X: trX(s.task), Y: trY(s.class)} }
	line := m.frontLine(c, trX, trY)
	c.StrokeLines(m.theme.line(m.theme.Hues[1], 1, 4, 2), line)
	var taken []vg.Rectangle
	for i := range line[1:] {
		taken = append(taken, spanned(line[i], line[i+1]))
	}
	for _, s := range m.shown() {
		g := m.theme.tradeGlyph(s.front)
		c.DrawGlyphNoClip(g, at(s))
		taken = append(taken, square(at(s), g.Radius))
	}
	for _, s := range m.shown() {
		sty, reach := m.theme.text(m.theme.Muted, tickSize-2), vg.Length(0)
		if s.front {
			sty, reach = m.theme.text(m.theme.Ink, tickSize), 60
		}
		box, free := room(c.Rectangle, taken, at(s), sty.Rectangle(s.label).Size(), reach)
		if !free && !s.front {
			continue
		}
		begin := vg.Point{X: box.Min.X, Y: (box.Min.Y + box.Max.Y) / 2}
		if free {
			m.lead(c, at(s), box)
			begin.Y += lift
			c.FillText(sty, begin, s.label)
		} else {
			m.theme.platedIn(sty, c, begin, s.label)
		}
		taken = append(taken, box)
	}
	if m.without > 0 {
		m.theme.platedIn(m.theme.text(m.theme.Muted, tickSize-1), c, vg.Point{X: c.Min.X + 3, Y: c.Min.Y + 7}, fmt.Sprintf("far below or to the left: %d more", m.without))
	}
}

// lead draws a thin line from a point to its name where that is not beside it.
func (m *trades) lead(c draw.Canvas, at vg.Point, name vg.Rectangle) {
	end := nearest(name, at)
	if d := end.Sub(at); d.Dot(d) > 64 {
		c.StrokeLine2(m.theme.line(m.theme.Muted, 0.5), at.X, at.Y, end.X, end.Y)
	}
}

// frontLine is the border of what is reached: to its left and below it there is a method that is as good in both.
func (m *trades) frontLine(c draw.Canvas, trX, trY func(float64) vg.Length) []vg.Point {
	line := []vg.Point{{X: c.Min.X, Y: trY(m.front[0].class)}}
	for i, s := range m.front {
		below := c.Min.Y
		if i+1 < len(m.front) {
			below = trY(m.front[i+1].class)
		}
		x := trX(s.task)
		line = append(line, vg.Point{X: x, Y: trY(s.class)}, vg.Point{X: x, Y: below})
	}
	return line
}
