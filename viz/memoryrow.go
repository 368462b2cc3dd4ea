package viz

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// memoryRow is what a step has to do with the memory. Several rows of the memory count as one, their sum.
type memoryRow struct {
	norm   float64 // length of its gradient
	share  float64 // of its weight in the sum of all weights
	along  float64 // J·d, to first order what a step of plain descent of size 1 takes from the memory's loss
	cosine float64 // of its gradient with d
	d2     float64 // ‖d‖²
}

// memoryOf returns it for steps in which the memory and a task take part.
func memoryOf(r *results.Record) (m memoryRow, ok bool) {
	k, rows, tasks := len(r.IDs), 0, 0
	var square, weight, weights float64
	for i, id := range r.IDs {
		weights += r.Weights[i]
		if id > 0 {
			tasks++
		}
		if ofMemory(id) {
			rows++
			weight += r.Weights[i]
		}
		for j, other := range r.IDs {
			x := r.Gram[i*k+j]
			m.d2 += r.Weights[i] * x * r.Weights[j]
			if ofMemory(id) {
				m.along += x * r.Weights[j]
				if ofMemory(other) {
					square += x
				}
			}
		}
	}
	if rows == 0 || tasks == 0 || !(square > 0) || !(m.d2 > 0) || weights == 0 {
		return m, false
	}
	m.norm, m.share = math.Sqrt(square), weight/weights
	m.cosine = min(max(m.along/(m.norm*math.Sqrt(m.d2)), -1), 1)
	return m, true
}

// memoryPoints is how many points a line of [MemoryRow] has at most: there are several, and a step's values scatter.
const memoryPoints = 50

// MemoryRow draws over the steps what each method does with the memory's gradient, a line for each label: how long the
// gradient is, the share of the memory's weight in the sum of all weights, and the cosine of its gradient with the
// direction d of the step. It must show who leaves the memory little and when: below a cosine of 0 a step raises the
// memory's loss, to first order. Runs of one label are averaged, and steps are grouped so that at most some 50 points
// remain. The ends of tasks are marked if they are the same in all runs.
func MemoryRow(t *Theme, recorded ...Recorded) (*Figure, error) {
	groups, err := t.grouped(recorded)
	if err != nil {
		return nil, err
	}
	quantities := []struct {
		name string
		of   func(memoryRow) float64
	}{
		{"length of its gradient", func(m memoryRow) float64 { return m.norm }},
		{"share of the weights", func(m memoryRow) float64 { return m.share }},
		{"cosine with d", func(m memoryRow) float64 { return m.cosine }},
	}
	records, ends := groups[0].runs[0], taskEnds(t, groups[0].runs[0], false).marks
	for _, g := range groups {
		for _, run := range g.runs {
			if run[len(run)-1].Step > records[len(records)-1].Step {
				records = run
			}
			if !slices.Equal(taskEnds(t, run, false).marks, ends) {
				ends = nil // tasks end at other steps: no line would be true of all
			}
		}
	}
	bucket := (records[len(records)-1].Step + memoryPoints) / memoryPoints
	l := layout{name: "memory-row", height: 420, data: Table{Head: []string{"run", "step", "norm", "weight_share", "cosine_with_d"}},
		alt: fmt.Sprintf("The memory's gradient, weight and part in the direction over the steps, for %d methods.", len(groups))}
	lines := make([][]streamLine, len(groups))
	first := math.MaxInt
	for i, g := range groups {
		lines[i] = make([]streamLine, len(quantities))
		for _, run := range g.runs {
			for n := range run {
				m, ok := memoryOf(&run[n])
				if !ok {
					continue
				}
				first = min(first, run[n].Step)
				l.data.add(g.label, run[n].Step, m.norm, m.share, m.cosine)
				for q := range quantities {
					lines[i][q].add(run[n].Step/bucket, float64(run[n].Step), quantities[q].of(m))
				}
			}
		}
		if len(lines[i][0].buckets) == 0 {
			return nil, fmt.Errorf("viz: %s: no step has gradients of the memory and of a task", g.label)
		}
		l.key = append(l.key, keyEntry{label: g.label, line: g.style.line(1.6)})
	}
	var plots []*Plot
	for q, quantity := range quantities {
		p := t.panel("", "optimiser step", quantity.name)
		p.grid()
		if len(ends) > 0 {
			p.Add(taskEnds(t, records, q == 0))
		}
		for i, g := range groups {
			p.line(g.style.line(1.4), lines[i][q].points())
		}
		p.Y.Tick.Marker = roundTicks{4}
		p.Y.Min, p.Y.Max = min(0, 1.1*p.Y.Min), 1.05*p.Y.Max
		plots = append(plots, p)
	}
	plots[0].Y.Max *= 1.1                             // room for the names of the tasks
	for len(records) > 1 && records[0].Step < first { // until there is a memory nothing is drawn
		records = records[1:]
	}
	if len(ends) > 0 {
		l.key = append(l.key, keyEntry{label: "a task ends", line: t.taskEnd()})
	}
	l.key = append(l.key, bucketKey(bucket)...)
	return t.overSteps(records, l, plots...)
}
