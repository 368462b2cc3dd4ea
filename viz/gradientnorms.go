package viz

import (
	"fmt"
	"math"

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
	var plots []*Plot
	data := Table{Head: []string{"run", "step", "stream", "norm"}}
	for _, g := range groups {
		records, rows := g.runs[0], streamsOf(g.runs[0]...)
		p := t.streamPlot(records, bucketOf(records), "length of the gradient", norms)
		p.Add(taskEnds(t, records, false))
		p.Title.Text = g.label
		p.X.Min, p.X.Max = float64(records[0].Step), float64(records[len(records)-1].Step)
		p.X.Tick.Marker = roundTicks{4}
		p.key = rows.key(t)
		plots = append(plots, p)
		for i := range records {
			for j, norm := range norms(&records[i]) {
				data.add(g.label, records[i].Step, rows.name(records[i].IDs[j]), norm)
			}
		}
	}
	sameHeight(plots)
	return t.figure(layout{name: "gradient-norms", data: data, row: 190, key: []keyEntry{{label: "a task ends", line: t.taskEnd()}},
		alt: fmt.Sprintf("Length of each stream's gradient over the steps, for %d methods.", len(plots))}, inRows(plots)...)
}
