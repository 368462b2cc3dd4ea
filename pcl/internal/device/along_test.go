package device

import (
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// TestPixelsAlong compares with the gradient of a gradient, which the operations of an MLP have,
// for a direction of which the classifier is left out, and with all of it left out. A direction
// that is computed from x, as ∇θℓ(x)−D is, counts as constant.
func TestPixelsAlong(t *testing.T) {
	const size, inputs, outputs = 5, 6, 5
	net := must.Get(model.NewMLP(inputs, []int{7, 4}, outputs))(t)
	set := &Set{Spec: Spec{Model: net, Batch: size}}
	r, total := rand.New(rand.NewPCG(6, 6)), net.Layout().Total
	targets := make([]int32, targetRows*size)
	copy(targets, []int32{0, 0, 2, 0, 2 /* hi */, 2, 5, 5, 3, 5 /* labels */, 0, 3, 4, 2, 2 /* valid */, 1, 2, 1, 1, 0})
	in := []*tensors.Tensor{
		floats(pcltest.Normal(r, total), total), floats(pcltest.Normal(r, size*inputs), size, inputs),
		tensors.FromFlatDataAndDimensions(targets, targetRows, size), floats(pcltest.Normal(r, total), total),
	}
	got := run(t, in, func(n []*graph.Node) []*graph.Node {
		layout := net.Layout()
		parts, along := split(n[0], layout.Params), split(n[3], layout.Params)
		along[4], along[5] = nil, nil
		open := func(direction []*graph.Node) *pass {
			s := set.begin(n[1:3])
			s.weight = graph.ConvertDType(s.weight, n[0].DType())
			return s.open(parts, direction...)
		}
		pixels := func(direction []*graph.Node) *graph.Node {
			return open(direction).pixelsAlong(direction, rehearsal.Loss{})
		}
		loss := graph.ReduceAllSum(graph.Mul(open(nil).losses(rehearsal.Loss{}).Value, open(nil).weight))
		gradient := graph.Gradient(loss, parts...)
		still := make([]*graph.Node, len(parts))
		for i, g := range gradient {
			still[i] = graph.StopGradient(g)
		}
		return []*graph.Node{
			open(nil).twice(along, loss), pixels(along), pixels(make([]*graph.Node, len(parts))),
			open(nil).twice(still, loss), pixels(gradient),
		}
	})
	pcltest.Within(t, "the gradient of a gradient", 1e-13, got[1], got[0]...)
	pcltest.Within(t, "along nothing", 0, got[2], make([]float64, size*inputs)...)
	pcltest.Within(t, "along the gradient", 1e-13, got[4], got[3]...)
	if got[0][0] == 0 || got[3][0] == 0 {
		t.Error("there is nothing to compare")
	}
}
