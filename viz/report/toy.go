package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/viz"
)

// toyBlock shows descents on the two synthetic functions; it is empty without any.
func toyBlock(traces []viz.Trace) block {
	if len(traces) == 0 {
		return block{}
	}
	arrival := traces[0].Arrival
	t := &table{Head: []string{"method", "x", "y", "f₁", "f₂", "f₁ rises by"}}
	for _, tr := range traces {
		n := len(tr.X) - 1
		name := cmp.Or(tr.Label, tr.Method)
		cells := []datum{{Text: name}}
		for _, x := range []float64{tr.X[n], tr.Y[n], tr.F1[n], tr.F2[n], slices.Max(tr.F1[arrival:]) - tr.F1[arrival]} {
			cells = append(cells, numberCell(x, fixed(4)))
		}
		t.add(row{Series: name}, cells...)
	}
	return block{ID: "toy", Title: "The same on two functions of two variables", Parts: []block{
		titled("The descent", "Look at where the paths part on the right: a path along a level line of f₁ keeps the old task as it is, one across it changes it.").of(viz.ToyDescent(traces...)),
		titled("Both functions", "Look at f₁ after the arrival of task 2, whose gradient is the larger one: a rise is forgetting. The weights of EMGD and Sum add up to about 2, those of AvgGrad and MGDA to 1: part of how far they get is the longer step.").of(viz.ToyLosses(traces...)),
		{Title: "Where each rule ends", Table: t, Notes: []string{fmt.Sprintf("f₁ = log(1 + x²) + 0.8 (1 − eˣ sin y)² is the old task; f₂ = log(1 + y²) + 0.004 (0.1 + eʸ cos x)² joins at step %d of %d. A rise is from that step on.", arrival, len(traces[0].X)-1)}},
	}}
}
