package pcl

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// TestPadding: a loss that is NaN for a sample of zeros trains on batches that are not full, and on a memory that has fewer
// samples than a batch.
func TestPadding(t *testing.T) {
	for _, name := range []string{backend.XLACPU, backend.Go} {
		b := pcltest.Backend(t, name)
		o := Options{Loss: model.LossFunc{Name: "relative", N: 2, F: func(outputs, targets *graph.Node) *graph.Node {
			return graph.ReduceMean(graph.Abs(graph.Div(graph.Sub(outputs, targets), targets)), 1)
		}}}
		o = regressionOptions(t, o)
		o.Memory.Budget = 5
		l := smallLearner(t, b, "emgd-gmc", o)
		first := waves{task: 3, n: 37} // two batches of 16, and one of 5
		attach(t, l, first.asTask(t, 1, 1))
		for range 3 {
			if r := must[*StepReport](t)(l.Step()); len(r.Skipped) > 0 || !slices.Equal(r.IDs, []int{1}) {
				t.Errorf("%s: step %d trained on %v and left out %v", name, r.Step, r.IDs, r.Skipped)
			}
		}
		if n := l.Memory().Len(); n == 0 || n >= 16 {
			t.Fatalf("%s: %d samples in memory", name, n)
		}
		attach(t, l, waves{task: 5, n: 16}.asTask(t, 2, 1))
		if r := must[*StepReport](t)(l.Step()); len(r.Skipped) > 0 || len(r.IDs) != 2 {
			t.Errorf("%s: beside the memory it trained on %v and left out %v", name, r.IDs, r.Skipped)
		}
	}
}
