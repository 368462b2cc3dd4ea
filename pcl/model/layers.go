package model

import (
	"github.com/gomlx/gomlx/core/graph"
)

// Dense is a fully connected layer: it maps x [B,I] with weights [I,O] and bias [O] to [B,O].
func (p Pass) Dense(x, weights, bias Dual) Dual {
	y := product(p.bilinear(func(a, b *graph.Node) *graph.Node { return graph.Dot(a, b).Product() }), x, weights)
	return Sum(y, lift(func(n *graph.Node) *graph.Node { return graph.ExpandAxes(n, 0) }, bias))
}

// ReLU is max(x,0). Its derivative at 0 is 0, for gradients and for tangents; the gradient of
// GoMLX's own maximum would be 1 there. A NaN stays a NaN.
func ReLU(x Dual) Dual {
	zero := graph.ZerosLike(x.Value)
	off := graph.LessOrEqual(x.Value, zero)
	return lift(func(n *graph.Node) *graph.Node { return graph.Where(off, zero, n) }, x)
}

// onCPU reports whether the graph will run on the CPU.
func onCPU(n *graph.Node) bool { return n.Graph().Backend().HasSharedBuffers() }
