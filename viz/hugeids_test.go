package viz_test

import (
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/invented"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/viz"
)

// TestHugeNumbersEnd draws what a damaged file may hold: ids and steps of 2⁵² and more. No figure
// takes longer for that.
func TestHugeNumbersEnd(t *testing.T) {
	const huge = 1 << 52
	record := func(step int, ids ...int) results.Record {
		return results.Record{Step: step, IDs: ids, Losses: []float64{1, 1}, Weights: []float64{.5, .5},
			Lambda: []float64{.5, .5},
			Sigma:  []float64{.5, .5}, Slacks: []float64{0, 0}, Gram: []float64{1, -.5, -.5, 1}, NormD: 1}
	}
	records := []results.Record{record(0, 0, 1), record(1, 0, 2*huge), record(huge, 1, 1<<62)}
	run := invented.Runs(1)[0]
	run.Tasks[0].End = huge
	run.Steps = huge + 1
	begin := time.Now()
	for name, draw := range map[string]func() (*viz.Figure, error){
		"weights":      func() (*viz.Figure, error) { return viz.StreamWeights(records) },
		"certificates": func() (*viz.Figure, error) { return viz.Certificates(records) },
		"conflicts":    func() (*viz.Figure, error) { return viz.Conflicts(records) },
		"timeline":     func() (*viz.Figure, error) { return viz.Timeline(run) },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := draw(); err != nil || time.Since(begin) > 10*time.Second {
				t.Errorf("%v after %v", expect.Text(err), time.Since(begin))
			}
		})
	}
}
