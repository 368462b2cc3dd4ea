package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/viz"
)

// A page about runs begins with what they decide: the comparison that pcl compare prints, and what accuracy costs.

// decision is a comparison of methods, the best first.
type decision struct {
	*versus.Table
	Rows    []decisionRow
	Highest bool // the reference is the method of the highest mean
}

type decisionRow struct {
	Rank                    int
	Method, Series          string
	A, Difference, P, Cost  value
	Beats                   value // %
	Interval, Shared, Class string
	Situations, Runs        int
}

// decisions compares runs with a reference, EMGD where it is among them. series names a method as figures do.
func decisions(runs []versus.Run, series map[string]string) (out []*decision, err error) {
	reference := ""
	for _, r := range slices.Backward(runs) {
		if rule, _, _ := strings.Cut(r.Method, "-"); r.Method == "emgd" || rule == "emgd" && reference != "emgd" {
			reference = r.Method
		}
	}
	tables, err := versus.Of(runs, reference)
	for _, t := range tables {
		out = append(out, newDecision(t, series))
	}
	return out, err
}

func newDecision(t *versus.Table, series map[string]string) *decision {
	d := &decision{Table: t}
	for _, l := range t.Lines {
		d.Rows = append(d.Rows, newDecisionRow(l, t.Lines[0].Situations, cmp.Or(series[l.Method], l.Method)))
	}
	return d.ranked()
}

func (d *decision) ranked() *decision {
	slices.SortStableFunc(d.Rows, func(a, b decisionRow) int { return cmp.Compare(b.A.Value, a.A.Value) })
	for i := range d.Rows {
		d.Rows[i].Rank = i + 1
	}
	return d
}

func newDecisionRow(l versus.Line, situations int, series string) decisionRow {
	row := decisionRow{
		Method: l.Method, Series: series, Situations: l.Situations, Runs: l.Runs,
		A: rounded(l.A, 1), Difference: dash, P: dash, Cost: dash, Interval: "–",
	}
	if l.Cost > 0 {
		row.Cost = value{fmt.Sprintf("×%.2f", l.Cost), l.Cost}
	}
	a := l.Against
	if a == nil {
		row.Difference.Text = ""
		return row
	}
	row.Difference, row.Shared = value{findings.Signed(a.Difference), a.Difference}, fmt.Sprintf("%d of %d", a.Situations, situations)
	if a.Interval != nil {
		row.Interval = interval(a.Interval[0], a.Interval[1])
	}
	if a.Holm != nil {
		row.P = value{findings.PValue(*a.Holm), *a.Holm}
	}
	if a.Differs {
		row.Class = map[bool]string{true: "good", false: "bad"}[a.Difference > 0]
	}
	return row
}

// interval is one of differences.
func interval(low, high float64) string {
	return fmt.Sprintf("%s to %s", findings.Signed(low), findings.Signed(high))
}

// costFigure draws accuracy against cost, a plot for each table in which costs are known; nil if there is none. series and
// method name a line's method as figures do, and what it looks like.
func costFigure(all []*versus.Table, series, method map[string]string) *runFigure {
	var plots []*viz.Plot
	for _, d := range all {
		p := viz.NewPlot(d.Dataset+", "+d.Increment+"-incremental", "time of a step, relative to "+d.Reference, "mean final accuracy A, %")
		var names []string
		lines := slices.SortedStableFunc(slices.Values(d.Lines), func(a, b versus.Line) int { return cmp.Compare(b.A, a.A) })
		for _, l := range lines {
			names = append(names, method[l.Method])
		}
		styles, known := viz.Methods(names...), 0
		for _, l := range lines {
			if l.Cost > 0 {
				p.Points(cmp.Or(series[l.Method], l.Method), styles[method[l.Method]], []float64{l.Cost}, []float64{l.A})
				known++
			}
		}
		if known > 1 {
			p.X.Min, p.X.Max = p.X.Min-0.1, p.X.Max+0.1
			p.Y.Min, p.Y.Max = p.Y.Min-1, p.Y.Max+1
			plots = append(plots, p)
		}
	}
	if len(plots) == 0 {
		return nil
	}
	f, err := viz.Plots("cost", "Mean final accuracy of each method against the time of its steps.", plots...)
	if err == nil && len(plots) > 2 {
		f.Rows, f.Height = slices.Collect(slices.Chunk(f.Rows[0], 2)), 0
	}
	drawn := titled("Accuracy against cost", "Up and to the left is better. The time of a step is the median over the runs that a method and "+all[0].Reference+" have in common; runs that were made side by side slow each other down.").of(f, err)
	return &drawn
}
