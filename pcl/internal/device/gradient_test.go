package device

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestDifferentiateTogether: gradients have the same bits, alone at θ, alone at its parts, and together.
func TestDifferentiateTogether(t *testing.T) {
	const size, inputs, outputs = 32, 784, 62
	b := pcltest.Backend(t, backend.XLACPU)
	net := must.Get(model.NewMLP(inputs, []int{128, 64}, outputs))(t)
	set := setOf(t, b, Spec{Model: net, Shared: net.Layout().Total, Batch: size, Optimizer: optim.SGD{LR: 1}})
	r := rand.New(rand.NewPCG(1, 1))
	drawn, _ := net.Layout().Init(r)
	theta := []compute.Buffer{onDevice(t, set, drawn)}
	var apart Parts
	defer apart.Free()
	parts := apart.Of(set, theta[0])
	var batches []*Batch
	for range 3 {
		batch := set.NewBatch()
		defer batch.Free()
		for i := range batch.X {
			batch.X[i] = r.Float32()
		}
		for i := range size {
			batch.hi[i], batch.Output[i], batch.valid[i] = outputs, r.Int32N(outputs), 1
		}
		batches = append(batches, batch)
	}
	together := set.Differentiate(parts, rehearsal.Loss{}, batches...)
	values := func(g Gradient) []float32 {
		return append(program.Values[float32](g.Flat, set.Total()), onTheHost(g.loss, 1)...)
	}
	for i, batch := range batches {
		for _, at := range [][]compute.Buffer{theta, parts} {
			if alone := set.Differentiate(at, rehearsal.Loss{}, batch); !slices.Equal(values(alone[0]), values(together[i])) {
				t.Errorf("batch %d: other bits at %d inputs", i, len(at))
			}
		}
	}
}
