package viz

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// TradeOff draws each method as a point, in a plot for each data set: its mean final accuracy A
// where the task is known to the right, and where all classes compete upwards. It must show whether
// one method is best in both, and if not, what one has to give up. Methods that no other method
// beats in both are filled and joined by a line, the Pareto front, and always labelled; the others
// are labelled where there is room. Methods more than 1.5 interquartile ranges below the lower
// quartile are only counted in the picture.
func TradeOff(runs ...*results.Run) (*Figure, error) {
	var plots []*Plot
	f := Figure{Name: "trade-off",
		Data: Table{Head: []string{"dataset", "method", "task_accuracy_percent", "task_std_percent", "class_accuracy_percent",
			"class_std_percent", "on_front"}},
		Key: []KeyEntry{
			{Label: "no other method reaches it in both", Line: lineStyle(SeriesColor(1), 1, 4, 2), Glyph: tradeGlyph(true)},
			{Label: "the others", Glyph: tradeGlyph(false), Tight: true},
		}}
	parts := settings(runs)
	for _, task := range parts {
		name := task.runs[0].Dataset
		i := slices.IndexFunc(parts, func(s setting) bool {
			return s.runs[0].Dataset == name && s.runs[0].Increment != task.runs[0].Increment
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
			f.Data.Add(name, b.label, b.task, b.taskStd, b.class, b.classStd, b.front)
		}
		p := NewPlot(name, "A, task known, %", "A, all classes compete, %")
		addTrades(p, both)
		plots = append(plots, p)
	}
	f.Alt = fmt.Sprintf("Accuracy when all classes compete against accuracy when the task is known, of the methods on %s.",
		plural.Of(len(plots), "data set"))
	rows := Rows(plots...)
	f.Height = 330 * vg.Length(len(rows))
	return NewFigure(f, rows...)
}

// trade is what a method reaches in both increments, in percent.
type trade struct {
	label                          string
	task, taskStd, class, classStd float64
	front                          bool
}

func tradeGlyph(front bool) draw.GlyphStyle {
	if front {
		return draw.GlyphStyle{Color: SeriesColor(1), Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
	}
	return draw.GlyphStyle{Color: Muted, Radius: vg.Points(2.4), Shape: draw.RingGlyph{}}
}

// tradesOf returns the methods that have runs in both increments, the best class-incremental one
// first.
func tradesOf(task, class []*results.Run) (out []trade, err error) {
	byTask, err := grouped(task)
	if err != nil {
		return nil, err
	}
	byClass, err := grouped(class)
	if err != nil {
		return nil, err
	}
	for _, g := range byTask {
		i := slices.IndexFunc(byClass, func(o repetitions) bool { return o.Label == g.Label })
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
	slices.SortStableFunc(out, func(a, b trade) int {
		return cmp.Or(cmp.Compare(b.class, a.class), cmp.Compare(b.task, a.task))
	})
	return out, nil
}

// behind says whether another method is at least as good in both, and better in one.
func (m trade) behind(o trade) bool {
	return o.task >= m.task && o.class >= m.class && (o.task > m.task || o.class > m.class)
}

// fence returns J. Tukey's lower fence: values below it are far from the others.
func fence(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	low, high := stat.Quantile(0.25, stat.LinInterp, sorted, nil), stat.Quantile(0.75, stat.LinInterp, sorted, nil)
	return low - 1.5*(high-low)
}

// addTrades adds methods as points, with the line of the front and names, for which there is room
// around them. Methods far behind are counted, not named.
func addTrades(p *Plot, all []trade) {
	x, y := func(m trade) float64 { return m.task }, func(m trade) float64 { return m.class }
	left, bottom := fence(each(all, x)), fence(each(all, y))
	front := slices.DeleteFunc(slices.Clone(all), func(m trade) bool { return !m.front })
	others := slices.DeleteFunc(slices.Clone(all), func(m trade) bool {
		return m.front || m.task < left || m.class < bottom
	})
	shown := slices.Concat(front, others)
	p.X.Min, p.X.Max = around(0.08, 0.5, each(shown, x)...)
	p.Y.Min, p.Y.Max = around(0.08, 0.5, each(shown, y)...)
	p.Add(Sketch(func(c Pen) {
		line := frontLine(c, front)
		c.StrokeLines(lineStyle(SeriesColor(1), 1, 4, 2), line)
		var taken []vg.Rectangle
		for i := range line[1:] {
			taken = append(taken, spanned(line[i], line[i+1]))
		}
		var names []PointLabel
		for _, m := range shown {
			g, n := tradeGlyph(m.front), PointLabel{At: c.At(m.task, m.class), Text: m.label, Style: smaller(2), Series: m.label}
			if m.front {
				n.Style, n.Reach, n.Must = TextStyle(Ink), 60, true
			}
			c.Describe(m.label, fmt.Sprintf("%.1f where the task is known, %.1f where all classes compete", m.task, m.class))
			c.DrawGlyphNoClip(g, n.At)
			taken, names = append(taken, square(n.At, g.Radius)), append(names, n)
		}
		c.DrawLabels(taken, names...)
		if without := len(all) - len(shown); without > 0 {
			c.DrawText(smaller(1), vg.Point{X: c.Min.X + 3, Y: c.Min.Y + 7},
				fmt.Sprintf("far below or to the left: %d more", without))
		}
	}))
}

// smaller is the style of texts that stand back, some points smaller than the others.
func smaller(points vg.Length) text.Style {
	sty := TextStyle(Muted)
	sty.Font.Size -= points
	return sty
}

// frontLine is the border of what is reached, by methods in the order of falling class-incremental
// accuracy: to its left and below it there is a method that is as good in both.
func frontLine(c Pen, front []trade) []vg.Point {
	line := []vg.Point{{X: c.Min.X, Y: c.Y(front[0].class)}}
	for i, m := range front {
		below := c.Min.Y
		if i+1 < len(front) {
			below = c.Y(front[i+1].class)
		}
		line = append(line, c.At(m.task, m.class), vg.Point{X: c.X(m.task), Y: below})
	}
	return line
}
