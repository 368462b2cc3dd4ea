// Package model holds the backbones of the benchmark as layers that map dual numbers: the same
// code gives the loss, and with a tangent the directional derivative that memory editing needs
// (docs/method.md §3.2). All parameters of a model lie in one flat vector, backbone first and classifier
// last, so that gradients, Gram matrices and optimisers know nothing of layers.
//
// Graph-building functions panic on a wrong shape, as GoMLX's do; the engine turns that into an
// error.
package model

import (
	"github.com/gomlx/gomlx/core/graph"
)

// Dual is a value with its derivative along one direction of the parameters. A nil Tangent
// stands for zero.
type Dual struct {
	Value   *graph.Node
	Tangent *graph.Node
}

// lift applies a linear function.
func lift(f func(*graph.Node) *graph.Node, x Dual) Dual {
	out := Dual{Value: f(x.Value)}
	if x.Tangent != nil {
		out.Tangent = f(x.Tangent)
	}
	return out
}

// plus adds two tangents, either of which may be zero.
func plus(a, b *graph.Node) *graph.Node {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	return graph.Add(a, b)
}

// product applies the product rule to a bilinear function.
func product(f func(a, b *graph.Node) *graph.Node, a, b Dual) Dual {
	out := Dual{Value: f(a.Value, b.Value)}
	if a.Tangent != nil {
		out.Tangent = f(a.Tangent, b.Value)
	}
	if b.Tangent != nil {
		out.Tangent = plus(out.Tangent, f(a.Value, b.Tangent))
	}
	return out
}

// sum adds two duals, of which the smaller is repeated along its axes of size 1.
func sum(a, b Dual) Dual {
	out := Dual{Value: graph.Add(a.Value, b.Value)}
	if t := plus(a.Tangent, b.Tangent); t != nil {
		out.Tangent = graph.BroadcastToShape(t, out.Value.Shape())
	}
	return out
}

// times multiplies entry by entry; the smaller is repeated along its axes of size 1.
func times(a, b Dual) Dual { return product(graph.Mul, a, b) }
