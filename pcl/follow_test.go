package pcl

import (
	"math"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// TestLossesAfterNothing: a step of length 0 leaves the losses as they were, also where batches are
// normalised by their own statistics, or compared with target values.
func TestLossesAfterNothing(t *testing.T) {
	b := pcltest.Backend(t, backend.Go) // which compiles a residual network faster
	still := optim.SGD{LR: 1e-12}
	normalised := smallLearner(t, b, "famo", Options{Model: tinyResNet(t), Increment: "task", Optimizer: still,
		Observe: true})
	d := pcltest.Blobs(4, 40, 5)
	attach(t, normalised, blobTask(t, d, 1, 0, 1))
	attach(t, normalised, blobTask(t, d, 2, 2, 3))
	values := regression(t, b, "famo", Options{Observe: true, Optimizer: still})
	attach(t, values, waves{task: 1, n: 160}.asTask(t, 1, 15))
	attach(t, values, waves{task: 2, n: 160}.asTask(t, 2, 15))
	for name, l := range map[string]*Learner{"batch normalisation": normalised, "target values": values} {
		t.Run(name, func(t *testing.T) {
			for range 3 {
				r := must.Get(l.Step())(t)
				for i, before := range r.Losses {
					if after := r.LossesAfter[i]; math.Abs(after-before) > 1e-5*before {
						t.Errorf("step %d, row %d: the loss was %g before a step of length 0, and %g after it", r.Step, r.IDs[i],
							before, after)
					}
				}
			}
		})
	}
}

func tinyResNet(t *testing.T) model.Model {
	t.Helper()
	return must.Get(model.NewResNet18(model.Sizes{Height: 8, Width: 8, Channels: 1, StemChannels: 2, Outputs: 6}))(t)
}
