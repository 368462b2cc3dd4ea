package viz

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Rise says which share of the rows' losses rose, to first order, along the steps that a run made, in percent: of the memory's
// rows (NaN if there were none), of the tasks' and of all.
type Rise struct {
	Label              string // the method, as in print; several of one label are repetitions
	Memory, Tasks, All float64
}

// RiseOf looks through the records of a run, which must have been observed.
func RiseOf(label string, records []results.Record) (Rise, error) {
	var memory, tasks, all results.Moment
	for i := range records {
		for k, change := range records[i].Rises {
			share := 0.0
			if change > 0 {
				share = 100
			}
			all.Add(share)
			if ofMemory(records[i].IDs[k]) {
				memory.Add(share)
			} else {
				tasks.Add(share)
			}
		}
	}
	if all.N == 0 {
		return Rise{}, fmt.Errorf("viz: %s: no step says which losses rise; observe the run", label)
	}
	if memory.N == 0 {
		memory.Mean = math.NaN()
	}
	return Rise{label, memory.Mean, tasks.Mean, all.Mean}, nil
}

// Rises draws a row for each label. It must show which method's steps raise losses that its direction lowers, once an optimiser
// such as Adam has turned the step, and whether the memory pays for it or the tasks. Each run is a pale point.
func Rises(t *Theme, rises ...Rise) (*Figure, error) {
	data := Table{Head: []string{"method", "memory_percent", "tasks_percent", "all_percent"}}
	d := kindRows{span: 0.5, format: "%.1f %%", kinds: []keyEntry{
		{label: "rows of the memory", glyph: kindGlyph(t.Hues[1], solid[0]), tight: true}, {label: "rows of tasks", glyph: kindGlyph(t.Hues[3], solid[1]), tight: true}}}
	for _, r := range rises {
		data.add(r.Label, r.Memory, r.Tasks, r.All)
	}
	d.gather(2*len(rises), func(i int) (string, int, float64) {
		r := rises[i/2]
		return r.Label, i % 2, []float64{r.Memory, r.Tasks}[i%2]
	})
	p := t.panel("", "rows whose loss rises along the step, in %", "")
	p.dotRows(d.dotRows)
	return t.figure(layout{name: "rises", data: data, height: vg.Length(50 + 34*len(d.rows)), key: append(d.kinds, paleRuns),
		alt: fmt.Sprintf("Share of rows whose loss rises to first order along the step that was made, for %d methods.", len(d.rows))}, []*Plot{p})
}
