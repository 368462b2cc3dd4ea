package device

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
)

func floats(flat []float64, dims ...int) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(flat, dims...)
}

func ints(flat ...int32) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(flat, len(flat)) }

// run runs a graph of inputs once on the pure-Go backend and returns its outputs in float64.
func run(t testing.TB, in []*tensors.Tensor, build func(n []*graph.Node) []*graph.Node) (out [][]float64) {
	t.Helper()
	args := make([]any, len(in))
	for i, x := range in {
		args[i] = x
	}
	results := must.Get(graph.CallOnceN(pcltest.Backend(t, backend.Go).Backend, func(n []*graph.Node) []*graph.Node {
		out := build(n)
		for i := range out {
			out[i] = graph.ConvertDType(out[i], dtypes.Float64)
		}
		return out
	}, args...))(t)
	for _, x := range results {
		out = append(out, must.Get(tensors.CopyFlatData[float64](x))(t))
	}
	return out
}

// goalsOf are the inputs label, lo and hi.
func goalsOf(n []*graph.Node) goals { return goals{Label: n[0], Lo: n[1], Hi: n[2]} }

func meanEntropy(logits model.Dual, t goals, weight *graph.Node) model.Dual {
	mean := func(n *graph.Node) *graph.Node { return graph.ReduceAllSum(graph.Mul(n, weight)) }
	each := crossEntropies(logits, t)
	return each.Chain(mean(each.Value), mean)
}
