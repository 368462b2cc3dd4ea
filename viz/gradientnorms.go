package viz

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// GradientNorms draws the length of each stream's gradient over the steps, a panel for each label (its first run). It must
// show which streams have long gradients, how far the memory's is from those of the running tasks, and what happens
// to it when a task ends, which the vertical lines mark. All panels have the same vertical axis. Steps are grouped so
// that at most some 250 points remain.
func GradientNorms(t *Theme, recorded ...Recorded) (*Figure, error) {
	groups, err := t.grouped(recorded)
	if err != nil {
		return nil, err
	}
	norms := func(r *results.Record) []float64 {
		k := len(r.IDs)
		out := make([]float64, k)
		for i := range out {
			out[i] = math.Sqrt(r.Gram[i*k+i])
		}
		return out
	}
	var plots []*plot.Plot
	var key []keyEntry
	data := Table{Head: []string{"run", "step", "stream", "norm"}}
	for _, g := range groups {
		records := g.runs[0]
		p, err := streamPlot(t, records, bucketOf(records), "length of the gradient", norms)
		if err != nil {
			return nil, err
		}
		p.Add(taskEnds(t, records, false))
		p.Title.Text = g.label
		p.X.Min, p.X.Max = float64(records[0].Step), float64(records[len(records)-1].Step)
		p.X.Tick.Marker = roundTicks{4}
		plots = append(plots, p)
		rows := streamsOf(records...)
		for _, entry := range rows.key(t) {
			if !slices.ContainsFunc(key, func(e keyEntry) bool { return e.label == entry.label }) {
				key = append(key, entry)
			}
		}
		for i := range records {
			for j, norm := range norms(&records[i]) {
				data.add(g.label, records[i].Step, rows.name(records[i].IDs[j]), norm)
			}
		}
	}
	sameHeight(plots)
	f := newFigure(t, 0, fmt.Sprintf("Length of each stream's gradient over the steps, for %d methods.", len(plots)), panels(plots)...)
	f.Height = 190 * rowsOf(f)
	f.key = append(key, keyEntry{label: "a task ends", line: t.line(t.Muted, 0.5, 2, 2)})
	return f.holding("gradient-norms", data), nil
}
