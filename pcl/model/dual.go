// Package model holds the networks of the benchmark: [NewMLP] and [NewResNet18]. To use another
// network, write it with [NewScoped], of any layers of GoMLX, or implement [Model].
//
// Layers compute with dual numbers ([Dual]). The same code then gives the loss and, if the
// parameters have tangents, the directional derivative that memory editing needs (docs/method.md
// §3.2). All parameters of a model lie in one flat vector, the backbone's first and the
// classifier's last ([Layout]), so that gradients, Gram matrices and optimisers need to know
// nothing about layers.
//
// Functions that build graphs panic if a shape is wrong, as those of GoMLX do. The learner turns
// such a panic into an error.
package model

import (
	"github.com/gomlx/gomlx/core/graph"
)

// Dual is a dual number: a value together with its derivative along one direction in the space of
// the parameters, the tangent. A nil Tangent stands for zero.
type Dual struct {
	Value   *graph.Node
	Tangent *graph.Node
}

// lift applies a linear function to a dual number.
func lift(f func(*graph.Node) *graph.Node, x Dual) Dual {
	return x.Chain(f(x.Value), f)
}

// Chain returns a value that is a function of x, with the tangent that the tangent of x leads to.
func (x Dual) Chain(value *graph.Node, tangent func(dx *graph.Node) *graph.Node) Dual {
	out := Dual{Value: value}
	if x.Tangent != nil {
		out.Tangent = tangent(x.Tangent)
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

// product applies a bilinear function to two dual numbers, with the tangent that the product rule
// gives.
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

// Sum adds two dual numbers. The smaller one is repeated along its axes of size 1.
func Sum(a, b Dual) Dual {
	out := Dual{Value: graph.Add(a.Value, b.Value)}
	if t := plus(a.Tangent, b.Tangent); t != nil {
		out.Tangent = graph.BroadcastToShape(t, out.Value.Shape())
	}
	return out
}

// times multiplies two dual numbers entry by entry. The smaller one is repeated along its axes of
// size 1.
func times(a, b Dual) Dual { return product(graph.Mul, a, b) }
