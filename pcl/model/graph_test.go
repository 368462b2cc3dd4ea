package model

import (
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// tensor is an input of a graph: float64 or int32 entries, row-major.
type tensor struct {
	flat any
	dims []int
}

func floats(flat []float64, dims ...int) tensor { return tensor{flat, dims} }
func ints(flat ...int32) tensor                 { return tensor{flat, []int{len(flat)}} }

// run builds a graph on the pure-Go backend, runs it once and returns its outputs in float64.
func run(t testing.TB, in []tensor, build func(n []*graph.Node) []*graph.Node) [][]float64 {
	t.Helper()
	return compile(t, pcltest.Backend(t, backend.Go), build)(in)
}

// compile returns what runs a graph on inputs: its outputs in float64.
func compile(t testing.TB, b *backend.Backend,
	build func(n []*graph.Node) []*graph.Node) func(in []tensor) [][]float64 {
	t.Helper()
	exec := must.Get(graph.NewExec(b.Backend, func(n []*graph.Node) []*graph.Node {
		out := build(n)
		for i := range out {
			out[i] = graph.ConvertDType(out[i], dtypes.Float64)
		}
		return out
	}))(t)
	t.Cleanup(exec.Finalize)
	return func(in []tensor) (out [][]float64) {
		t.Helper()
		args := make([]any, len(in))
		for i, x := range in {
			switch flat := x.flat.(type) {
			case []float64:
				args[i] = tensors.FromFlatDataAndDimensions(flat, x.dims...)
			case []int32:
				args[i] = tensors.FromFlatDataAndDimensions(flat, x.dims...)
			}
		}
		for _, x := range must.Get(exec.Call(args...))(t) {
			out = append(out, must.Get(tensors.CopyFlatData[float64](x))(t))
		}
		return out
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// moved is x + h·v.
func moved(x []float64, h float64, v []float64) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] + h*v[i]
	}
	return out
}

// duals are the parts of a flat vector of parameters, with tangents if there are any.
func duals(parts []*graph.Node, tangents ...*graph.Node) []Dual {
	out := make([]Dual, len(parts))
	for i := range parts {
		if out[i].Value = parts[i]; tangents != nil {
			out[i].Tangent = tangents[i]
		}
	}
	return out
}

// split cuts a flat vector into tensors, and join is its inverse.
func split(flat *graph.Node, tensors []Param) (parts []*graph.Node) {
	for _, p := range tensors {
		parts = append(parts, graph.Reshape(graph.Slice(flat, graph.AxisRange(p.Offset, p.Offset+p.Size())), p.Dims...))
	}
	return parts
}

func join(parts []*graph.Node) *graph.Node {
	flat := make([]*graph.Node, len(parts))
	for i, p := range parts {
		flat[i] = graph.Reshape(p, -1)
	}
	return graph.Concatenate(flat, 0)
}

// targets say what a batch should predict: the labels, which outputs compete, and the samples'
// shares.
type targets struct{ label, lo, hi, weight *graph.Node }

// targetsOf are four inputs.
func targetsOf(n []*graph.Node) targets { return targets{n[0], n[1], n[2], n[3]} }

// meanEntropy is the mean of the samples' cross-entropies.
func meanEntropy(logits Dual, t targets) Dual {
	z := logits.Value
	class := graph.Iota(z.Graph(), shapes.Make(dtypes.Int32, z.Shape().Dimensions...), 1)
	competes := graph.LogicalAnd(graph.GreaterOrEqual(class, graph.ExpandAxes(t.lo, 1)),
		graph.LessThan(class, graph.ExpandAxes(t.hi, 1)))
	z = graph.Where(competes, z, graph.MulScalar(graph.OnesLike(z), -1e30))
	z = graph.Sub(z, graph.StopGradient(graph.ReduceAndKeep(z, graph.ReduceMax, 1)))
	exp := graph.Exp(z)
	total, right := graph.ReduceSum(exp, 1), graph.OneHot(t.label, z.Shape().Dimensions[1], z.DType())
	mean := func(n *graph.Node) *graph.Node { return graph.ReduceAllSum(graph.Mul(n, t.weight)) }
	return logits.Chain(mean(graph.Sub(graph.Log(total), graph.ReduceSum(graph.Mul(right, z), 1))),
		func(dz *graph.Node) *graph.Node {
			return mean(graph.ReduceSum(graph.Mul(graph.Sub(graph.Div(exp, graph.ExpandAxes(total, 1)), right), dz), 1))
		})
}

// pixelGradient is the gradient by x of the loss's derivative along a direction, in which nil
// stands for zero. It uses tangents if the network has them.
func pixelGradient(net Model, parts, along []*graph.Node, x *graph.Node, t targets) *graph.Node {
	loss := meanEntropy(net.Forward(Pass{Params: duals(parts, along...), X: Dual{Value: x}, Weight: t.weight}).Logits, t)
	if loss.Tangent == nil {
		loss.Tangent = graph.ScalarZero(x.Graph(), x.DType())
		for i, g := range graph.Gradient(loss.Value, parts...) {
			if along[i] != nil {
				loss.Tangent = graph.Add(loss.Tangent, graph.ReduceAllSum(graph.Mul(g, along[i])))
			}
		}
	}
	return graph.Gradient(loss.Tangent, x)[0]
}
