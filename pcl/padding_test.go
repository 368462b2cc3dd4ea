package pcl

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// TestPadding: a loss that is NaN for a sample of zeros trains on batches that are not full, and on
// a memory that has fewer samples than a batch.
func TestPadding(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	o := regressionOptions(t, Options{Loss: model.LossFunc("relative", 2, func(outputs, targets *graph.Node) *graph.Node {
		return graph.ReduceMean(graph.Abs(graph.Div(graph.Sub(outputs, targets), targets)), 1)
	})})
	o.Memory.Budget = 5
	l := smallLearner(t, b, "emgd-gmc", o)
	attach(t, l, waves{task: 3, n: 37}.asTask(t, 1, 1)) // two batches of 16, and one of 5
	for range 3 {
		if r := must.Get(l.Step())(t); len(r.Skipped) > 0 || !slices.Equal(r.IDs, []int{1}) {
			t.Errorf("step %d trained on %v and left out %v", r.Step, r.IDs, r.Skipped)
		}
	}
	attach(t, l, waves{task: 5, n: 16}.asTask(t, 2, 1))
	if r := must.Get(l.Step())(t); len(r.Skipped) > 0 || !slices.Equal(r.IDs, []int{0, 2}) {
		t.Errorf("beside the memory it trained on %v and left out %v", r.IDs, r.Skipped)
	}
}
