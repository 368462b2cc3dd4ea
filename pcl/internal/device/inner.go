package device

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// partial is the number of float32 partial sums of an inner product, which are then added up in
// float64. There are enough of them to fill a processor's vector units, and to keep each sum short
// enough to be precise.
const partial = 64

// inner is ⟨a,b⟩ over the shared parameters, as float64.
func (p *Set) inner(a, b *graph.Node) *graph.Node {
	return innerRange(a, b, 0, p.Shared)
}

// innerRange is Σ aᵢbᵢ over from ≤ i < to, as float64; its products, and each partial sum, are
// float32.
func innerRange(a, b *graph.Node, from, to int) *graph.Node {
	sum := graph.ScalarZero(a.Graph(), dtypes.Float64)
	whole := from + (to-from)/partial*partial
	if whole > from {
		cut := func(x *graph.Node) *graph.Node {
			return graph.Reshape(graph.Slice(x, graph.AxisRange(from, whole)), -1, partial)
		}
		sum = double(graph.ReduceSum(graph.Mul(cut(a), cut(b)), 0))
	}
	if whole < to {
		cut := func(x *graph.Node) *graph.Node { return graph.Slice(x, graph.AxisRange(whole, to)) }
		sum = graph.Add(sum, double(graph.Mul(cut(a), cut(b))))
	}
	return sum
}

// double returns the sum of all entries of x in float64.
func double(x *graph.Node) *graph.Node {
	return graph.ReduceAllSum(graph.ConvertDType(x, dtypes.Float64))
}

// element returns x[i] as a vector with one entry, so that it can be broadcast.
func element(x *graph.Node, i int) *graph.Node {
	return graph.Slice(x, graph.AxisRange(i, i+1))
}
