package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/internal/paper"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/pcl/stats"
	"github.com/parallelcl/parallelcl/viz"
)

// comparison shows a column: who leads, what that decides, and a line for each method with its
// difference from EMGD, else from one of its kin, else from the first. The table of one method
// compares nothing.
func comparison(c *rows.Column) (b block, compared *versus.Table) {
	columns := []*rows.Column{c}
	compared = cmp.Or(append(versus.Of(columns, versus.Preferred(columns)), versus.Alone(c))[0], &versus.Table{})
	lines := map[string]versus.Line{}
	for _, l := range compared.Lines {
		lines[l.Method] = l
	}
	t := &table{Head: []string{"method", "A, %", "− " + compared.Reference, "p (Holm)"}}
	for _, m := range results.Metrics[1:] {
		t.Head = append(t.Head, m.Name+", %")
	}
	t.Head = append(t.Head, "rank", "situations, runs", "ms/step", "kept, MB", "A, tuned", "A, paper", "F, paper")
	for _, e := range c.ByA() {
		accuracy, l := valueCell(e.A), lines[e.Name]
		if fixed(2)(e.A.StdRuns) != fixed(2)(e.A.StdSeeds) && !math.IsNaN(e.A.StdRuns) {
			accuracy.Small = fmt.Sprintf("± %.2f runs", e.A.StdRuns) // of the single ones
		}
		tuned := stats.Summary{Mean: math.NaN()}
		if e.Other != nil && !c.Table.Tuned {
			tuned = e.Other.A
		}
		difference, p := differenceCells(l.Against)
		cells := []datum{{Text: e.Name, Small: e.Remark}, accuracy, difference, p}
		for _, m := range results.Metrics[1:] {
			cells = append(cells, valueCell(e.Summary(m)))
		}
		paperA, paperF := paper.Numbers(e)
		t.add(row{ID: entryID(e), Series: e.Name}, append(cells, numberCell(cmp.Or(e.Rank, math.NaN()), fixed(1)),
			runsCell(e, l.Against), timeCell(e, l.Cost), bytesCell(versus.BytesOf(e.Results())), valueCell(tuned),
			paperCell(paperA), paperCell(paperF))...)
	}
	addBounds(t, compared.Bounds)
	t.leaveOutBlanks()
	b = block{Title: c.Benchmark.String(), Table: t, Notes: []string{paper.Note(c)}}
	if compared.Reference != "" {
		b.Title, b.Lead = b.Title+": which method is better", leader(c, lines)
		b.Notes = append(append([]string{decision(compared)}, b.Notes...), append(compared.Notes, compared.More)...)
	}
	b.Notes = append(b.Notes, compared.Next)
	return b, compared
}

// columnsNote explains the columns of a table of methods.
const columnsNote = "A is the mean accuracy over the tasks at the end, in percent; F the mean change since " +
	"each task’s own end " +
	"(negative: forgotten); A_first = A − F the mean accuracy at the tasks’ own ends. ± is the population " +
	"standard deviation of the seeds’ means over the situations (label sets and timelines), as in the paper; ± " +
	"runs is that of the single runs, label sets, timelines and seeds together, which is larger, since situations " +
	"are not equally hard. p is of the exact sign-flip test over situations after Holm’s correction; an " +
	"interval is of one difference alone. Rank is the average rank by A over the situations, 1 being the best; × " +
	"the time of a step relative to the method that the others are compared with, over the runs that both have. " +
	"Kept are the samples that a method stores at the end, and the sums that it learns from. Rows in brackets are " +
	"no methods: guessing among the classes, and runs that show what is possible."

// addBounds adds the rows that no test is about, below those of the methods.
func addBounds(t *table, all []*versus.Bound) {
	for _, b := range all {
		cells := make([]datum, len(t.Head))
		for i, head := range t.Head {
			switch head {
			case "method":
				cells[i] = datum{Text: b.Text(b.Situations)}
			case "A, %":
				cells[i] = numberCell(b.A, fixed(2))
			case "situations, runs":
				if b.Runs > 0 {
					cells[i] = datum{Text: fmt.Sprintf("%d, %d", b.Situations, b.Runs)}
				}
			case "kept, MB":
				cells[i] = bytesCell(b.Bytes)
			case t.Head[2]:
				if b.Difference != nil {
					cells[i] = numberCell(*b.Difference, paper.Signed)
				}
			}
		}
		t.add(row{}, cells...)
	}
}

// bytesCell is how many megabytes of samples and sums a method keeps, and how many of them are
// sums; a dash where that is not known.
func bytesCell(b versus.Bytes) datum {
	if b == (versus.Bytes{}) {
		return datum{Text: "–"}
	}
	out := numberCell(float64(b.Samples+b.Sums)/1e6, fixed(2))
	if b.Sums > 0 {
		out.Small = fixed(2)(float64(b.Sums)/1e6) + " in sums"
	}
	return out
}

func valueCell(v stats.Summary) datum {
	return numberCell(v.Mean, func(float64) string { return v.String() })
}

// differenceCells are the difference from the reference, with its interval, and the probability of
// one as large by chance.
func differenceCells(a *versus.Against) (difference, p datum) {
	if a == nil {
		return datum{}, datum{}
	}
	difference = numberCell(a.Difference, paper.Signed)
	if a.Interval != nil {
		difference.Small = interval(a.Interval[0], a.Interval[1])
	}
	if a.Differs {
		difference.Class = judged(a.Difference > 0)
	}
	return difference, knownCell(a.Holm, probability)
}

func probability(p float64) string {
	if p < 0.001 {
		return fmt.Sprintf("%.1g", p)
	}
	return fmt.Sprintf("%.3f", p)
}

func judged(good bool) string { return map[bool]string{true: "good", false: "bad"}[good] }

func interval(low, high float64) string { return paper.Signed(low) + " to " + paper.Signed(high) }

// runsCell also says how many situations the method shares with the reference.
func runsCell(e *rows.Entry, a *versus.Against) datum {
	situations := len(rows.Situations(results.FinalAccuracy, e))
	out := datum{Text: fmt.Sprintf("%d, %d", situations, e.Done)}
	switch {
	case a != nil && a.Repeated > 0:
		out.Small = fmt.Sprintf("%d distinct", a.Situations)
	case a != nil && a.Situations < situations:
		out.Small = fmt.Sprintf("%d shared", a.Situations)
	}
	return out
}

// timeCell is the mean time of a step, with the cost relative to the reference.
func timeCell(e *rows.Entry, cost float64) datum {
	var millis results.Moment
	for _, r := range e.Rows {
		if r.Run != nil && r.Run.Measured.StepMillis > 0 {
			millis.Add(r.Run.Measured.StepMillis)
		}
	}
	out := numberCell(cmp.Or(millis.Mean, math.NaN()), fixed(2))
	if cost > 0 {
		out.Small = fmt.Sprintf("×%.2f", cost)
	}
	return out
}

func paperCell(n *paper.Number) datum {
	if n == nil {
		return datum{Text: "–"}
	}
	return numberCell(n.Mean, func(x float64) string { return fmt.Sprintf("%s ±\u00a0%.2f", fixed(2)(x), n.Std) })
}

// costs draws accuracy against cost, a plot for each comparison in which costs are known.
func (s *runSet) costs(tables []*versus.Table) block {
	looks := map[string]string{}
	for _, c := range s.Columns {
		for _, e := range c.Entries {
			looks[e.Name] = e.Method()
		}
	}
	styles := viz.MethodStyles(slices.Sorted(maps.Values(looks))...)
	var plots []*viz.Plot
	for i, t := range tables {
		spread := map[string]float64{}
		for _, e := range s.Columns[i].Entries {
			spread[e.Name] = e.A.StdSeeds
		}
		lines := slices.DeleteFunc(slices.Clone(t.Lines), func(l versus.Line) bool { return l.Cost == 0 })
		if len(lines) < 2 {
			continue
		}
		p := viz.NewPlot(t.Dataset+", "+t.Increment+"-incremental", "time of a step, relative to "+t.Reference,
			"mean final accuracy A, %")
		p.LabelPoints()
		for _, l := range lines {
			p.Add(costPoint(l, styles[looks[l.Method]], spread[l.Method]))
		}
		room := 0.12 * (p.X.Max - p.X.Min)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = p.X.Min-room, p.X.Max+room, p.Y.Min-1, p.Y.Max+1
		plots = append(plots, p)
	}
	if len(plots) == 0 {
		return block{}
	}
	f := viz.Figure{Name: "cost", Alt: "Mean final accuracy of each method against the time of its steps."}
	rows := viz.Rows(plots...)
	f.Height = vg.Length(290 * len(rows))
	if len(plots) == 1 {
		f.Width, f.Height = 320, 250 // of which a phone can show all, and its texts large enough to read
	}
	return titled("Accuracy against cost",
		"Up and to the left is better. Bars are the ± of the table. The time of a step is "+
			"the median over the runs that a method and the reference have in common; runs that were made side by side slow "+
			"each other down.").of(viz.NewFigure(f, rows...))
}

// costPoint is a method's marker, with a bar of ± its spread if it has one.
func costPoint(l versus.Line, style viz.Style, std float64) viz.Plotter {
	at := plotter.XYs{{X: l.Cost, Y: l.A}}
	s := viz.Series{KeyEntry: viz.KeyEntry{Label: l.Method, Glyph: style.GlyphStyle(3)}, Values: at}
	var layers []plot.Plotter
	if std > 0 { // not NaN
		s.Low, s.High = []float64{l.A - std}, []float64{l.A + std}
		bar := &plotter.YErrorBars{XYs: at, YErrors: plotter.YErrors{{Low: std, High: std}}, CapWidth: 5}
		bar.LineStyle = style.LineStyle()
		bar.LineStyle.Width, bar.LineStyle.Dashes = 1, nil
		layers = append(layers, bar)
	}
	return viz.Named(s, append(layers, &plotter.Scatter{XYs: at, GlyphStyle: style.GlyphStyle(3.2)})...)
}
