package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/paper"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/viz"
)

// compare compares the methods of a column with EMGD, else with one of its kin, else with the first. The table of one method is empty.
func compare(c *findings.Column) *versus.Table {
	columns := []*findings.Column{c}
	return append(versus.Of(columns, versus.Preferred(columns)), &versus.Table{})[0]
}

// comparison shows a column: the verdict, and a line for each method with its difference from the reference.
func comparison(c *findings.Column, compared *versus.Table) block {
	b := block{Title: c.Name(), Table: &table{}, Notes: []string{c.Note()}}
	if compared.Reference != "" {
		b.Title, b.Lead = b.Title+": which method is better", compared.Verdict
		b.Notes = append(append(b.Notes, compared.Notes...), compared.More)
	}
	columns := columnsOf(c, compared)
	for _, col := range columns {
		b.Table.Head = append(b.Table.Head, col.head)
	}
	for _, e := range c.ByA() {
		var cells []datum
		for _, col := range columns {
			cells = append(cells, col.of(e))
		}
		b.Table.add(row{ID: entryID(e), Series: e.Name}, cells...)
	}
	return b
}

// column is one of the table of a column's methods.
type column struct {
	head string
	of   func(e *findings.Entry) datum
}

// columnsOf are those for which there is something to show.
func columnsOf(c *findings.Column, compared *versus.Table) []column {
	lines := map[string]versus.Line{}
	out := []column{{"method", nameCell}, {"A, %", accuracyCell}}
	if compared.Reference != "" {
		for _, l := range compared.Lines {
			lines[l.Method] = l
		}
		out = append(out, column{"− " + compared.Reference, func(e *findings.Entry) datum { return differenceCell(lines[e.Name].Against) }},
			column{"p (Holm)", func(e *findings.Entry) datum { return knownCell(holm(lines[e.Name].Against), findings.PValue) }})
	}
	out = append(out, column{"F, %", func(e *findings.Entry) datum { return valueCell(e.F) }},
		column{"A_first, %", func(e *findings.Entry) datum { return valueCell(e.AFirst) }},
		column{"rank", func(e *findings.Entry) datum { return numberCell(cmp.Or(e.Rank, math.NaN()), fixed(1)) }},
		column{"situations, runs", func(e *findings.Entry) datum { return runsCell(e, lines[e.Name].Against) }},
		column{"ms/step", func(e *findings.Entry) datum { return timeCell(e, lines[e.Name].Cost) }})
	tuned, published := c.Shows()
	if tuned {
		out = append(out, column{"A, tuned", tunedCell})
	}
	if published {
		out = append(out, column{"A, paper", func(e *findings.Entry) datum { return paperCell(e.PaperA) }},
			column{"F, paper", func(e *findings.Entry) datum { return paperCell(e.PaperF) }})
	}
	return out
}

func nameCell(e *findings.Entry) datum { return datum{Text: e.Name, Sort: e.Name, Small: e.Remark()} }

func valueCell(v findings.Value) datum {
	return numberCell(v.Mean, func(float64) string { return v.String() })
}

// accuracyCell also has the spread of the single runs.
func accuracyCell(e *findings.Entry) datum {
	out := valueCell(e.A)
	if !math.IsNaN(e.A.StdRuns) {
		out.Small = "± " + e.A.Spread() + " runs"
	}
	return out
}

// differenceCell also has the interval.
func differenceCell(a *versus.Against) datum {
	if a == nil {
		return datum{}
	}
	out := numberCell(a.Difference, findings.Signed)
	if a.Interval != nil {
		out.Small = interval(a.Interval[0], a.Interval[1])
	}
	if a.Differs {
		out.Class = judged(a.Difference > 0)
	}
	return out
}

func judged(good bool) string { return map[bool]string{true: "good", false: "bad"}[good] }

// interval is one of differences.
func interval(low, high float64) string { return findings.Signed(low) + " to " + findings.Signed(high) }

func holm(a *versus.Against) *float64 {
	if a == nil {
		return nil
	}
	return a.Holm
}

// runsCell also says how many situations the method shares with the reference.
func runsCell(e *findings.Entry, a *versus.Against) datum {
	situations := values(e.Rows, func(r *rows.Row) string { return fmt.Sprint(r.LabelSet, "/", r.Timeline) })
	out := datum{Text: fmt.Sprintf("%d, %d", len(situations), e.Done)}
	if a != nil && a.Situations < len(situations) {
		out.Small = fmt.Sprintf("%d shared", a.Situations)
	}
	return out
}

// timeCell is the mean time of a step, with the cost relative to the reference.
func timeCell(e *findings.Entry, cost float64) datum {
	var millis results.Moment
	for _, r := range e.Rows {
		if r.StepMillis > 0 {
			millis.Add(r.StepMillis)
		}
	}
	out := numberCell(cmp.Or(millis.Mean, math.NaN()), fixed(2))
	if cost > 0 {
		out.Small = fmt.Sprintf("×%.2f", cost)
	}
	return out
}

func tunedCell(e *findings.Entry) datum {
	if e.Other == nil {
		return datum{Text: "–"}
	}
	return valueCell(e.Other.A)
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
	for _, r := range s.Rows {
		looks[r.Line()] = r.RunMethod
	}
	styles := viz.Methods(slices.Sorted(maps.Values(looks))...)
	var plots []*viz.Plot
	for _, t := range tables {
		lines := slices.DeleteFunc(slices.Clone(t.Lines), func(l versus.Line) bool { return l.Cost == 0 })
		if len(lines) < 2 {
			continue
		}
		p := viz.NewPlot(t.Dataset+", "+t.Increment+"-incremental", "time of a step, relative to "+t.Reference, "mean final accuracy A, %")
		for _, l := range lines {
			p.Points(l.Method, styles[looks[l.Method]], []float64{l.Cost}, []float64{l.A})
		}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = p.X.Min-0.1, p.X.Max+0.1, p.Y.Min-1, p.Y.Max+1
		plots = append(plots, p)
	}
	if len(plots) == 0 {
		return block{}
	}
	f, err := viz.Plots("cost", "Mean final accuracy of each method against the time of its steps.", plots...)
	return titled("Accuracy against cost", "Up and to the left is better. The time of a step is the median over the runs that a method and the reference have in common; runs that were made side by side slow each other down.").of(f, err)
}
