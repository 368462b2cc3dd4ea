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

// TestDifferentiateTogether: gradients have the same bits, alone at θ, alone at its parts, and
// together.
func TestDifferentiateTogether(t *testing.T) {
	const size, inputs, outputs = 32, 784, 62
	b := pcltest.Backend(t, backend.XLACPU)
	net := must.Get(model.NewMLP(inputs, []int{128, 64}, outputs))(t)
	set := setOf(t, b, Spec{Model: net, Shared: net.Layout().Total, Batch: size, Optimizer: optim.SGD{LR: 1}})
	r := rand.New(rand.NewPCG(1, 1))
	drawn, _ := net.Layout().Init(r)
	theta := []compute.Buffer{onDevice(t, set, drawn)}
	var copied parts
	defer copied.free()
	apart := must.Get(copied.of(set, theta[0]))(t)
	var together []*Row
	for range 3 {
		batch := must.Get(set.NewBatch())(t)
		defer batch.Free()
		for i := range batch.X {
			batch.X[i] = r.Float32()
		}
		for i := range size {
			batch.hi[i], batch.Output[i], batch.Counts[i] = outputs, r.Int32N(outputs), 1
		}
		together = append(together, &Row{Batch: batch})
	}
	must.Do(t, set.differentiate(apart, false, together...))
	values := func(r *Row) []float32 {
		return append(slices.Clone(must.Get(program.Read[float32](r.Flat, set.total()))(t)),
			must.Get(onTheHost(r.loss, 1))(t)...)
	}
	for i, row := range together {
		for _, at := range [][]compute.Buffer{theta, apart} {
			alone := &Row{Batch: row.Batch}
			if must.Do(t, set.differentiate(at, false, alone)); !slices.Equal(values(alone), values(row)) {
				t.Errorf("batch %d: other bits at %d inputs", i, len(at))
			}
		}
	}
}

// TestDescribeAtParts: scores and features are the same at θ and at its parts.
func TestDescribeAtParts(t *testing.T) {
	b := pcltest.Backend(t, backend.XLACPU)
	for name, net := range map[string]model.Model{
		"mlp": must.Get(model.NewMLP(784, []int{128, 64}, 62))(t),
		"resnet": must.Get(model.NewResNet18(model.Sizes{
			Height: 16, Width: 16, Channels: 3, StemChannels: 4, Outputs: 10,
		}))(t),
	} {
		t.Run(name, func(t *testing.T) {
			layout, r := net.Layout(), rand.New(rand.NewPCG(1, 1))
			set := setOf(t, b, Spec{Model: net, Shared: layout.Total, Batch: 8, Optimizer: optim.SGD{LR: 1}})
			drawn, statistics := layout.Init(r)
			apart := must.Get(PartsOf(b, drawn, layout.Params))(t)
			defer program.Free(apart...)
			batch := must.Get(set.NewBatch())(t)
			defer batch.Free()
			for i := range batch.X {
				batch.X[i] = r.Float32()
			}
			batch.N = 8
			for i := range batch.N {
				batch.hi[i], batch.Counts[i] = int32(net.Outputs()), 1
			}
			whole := At{Theta: onDevice(t, set, drawn), Running: statistics}
			scores, features, err := set.Describe(whole, batch, rehearsal.Loss{})
			must.Do(t, err)
			gotScores, gotFeatures, err := set.Describe(At{Parts: apart, Running: statistics}, batch, rehearsal.Loss{})
			must.Do(t, err)
			if !slices.EqualFunc(gotScores, scores, slices.Equal) || !slices.EqualFunc(gotFeatures, features, slices.Equal) {
				t.Error("other scores or features at the parts of θ")
			}
		})
	}
}
