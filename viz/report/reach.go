package report

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/pcl/results/versus"
	"github.com/parallelcl/parallelcl/viz"
)

// reach draws the methods of a column between guessing and the bounds that stand beside them, such
// as one network for all tasks at once. It is empty if the column has no bounds but guessing.
func reach(c *rows.Column, bounds []*versus.Bound) block {
	if len(c.Beside) == 0 {
		return block{}
	}
	type level struct {
		name  string
		a     float64
		color viz.Color
	}
	var all []level
	for _, e := range finished(c) {
		all = append(all, level{e.Name, e.A.Mean, viz.Ink})
	}
	for _, b := range bounds {
		all = append(all, level{b.Text(b.Situations), b.A, viz.Muted})
	}
	slices.SortStableFunc(all, func(a, b level) int { return cmp.Compare(b.a, a.a) })
	var bars viz.Bars
	for i, l := range all {
		bars.Rows = append(bars.Rows, l.name)
		bars.Bars = append(bars.Bars, viz.Bar{Row: i, End: l.a, Text: fmt.Sprintf("%.1f", l.a), Color: l.color})
	}
	p := viz.NewBarePlot("", "mean final accuracy A, %", "")
	p.AddBars(bars)
	p.X.Min, p.X.Max = 0, 100
	f := viz.Figure{Name: "reach", Width: 400, Height: vg.Length(70 + 26*len(all)),
		Alt: "Mean final accuracy of each method, of guessing, and of what stands beside the methods."}
	return titled("From guessing to what is possible, "+c.Benchmark.String(),
		"Grey bars, with names in brackets, are no methods: no test is about them. On all tasks at once the same network "+
			"sees every sample in one stream.").of(viz.NewFigure(f, []*viz.Plot{p}))
}
