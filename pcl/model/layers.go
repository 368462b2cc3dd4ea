package model

import (
	"github.com/gomlx/gomlx/core/graph"
)

// dense maps x [B,I] by weights [I,O] and bias [O] to [B,O].
func (p Pass) dense(x, weights, bias Dual) Dual {
	y := product(p.bilinear(func(a, b *graph.Node) *graph.Node { return graph.Dot(a, b).Product() }), x, weights)
	return sum(y, lift(func(n *graph.Node) *graph.Node { return graph.ExpandAxes(n, 0) }, bias))
}

// relu is max(x,0), with derivative 0 at 0 for gradients and tangents alike (the gradient of a stock
// maximum is 1 there). A NaN stays one.
func relu(x Dual) Dual {
	zero := graph.ZerosLike(x.Value)
	off := graph.LessOrEqual(x.Value, zero)
	return lift(func(n *graph.Node) *graph.Node { return graph.Where(off, zero, n) }, x)
}

// onCPU says whether what is built will run where the host's memory is.
func onCPU(n *graph.Node) bool { return n.Graph().Backend().HasSharedBuffers() }
