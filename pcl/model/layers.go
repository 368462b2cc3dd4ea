package model

import (
	"github.com/gomlx/gomlx/core/graph"
)

// dense maps x [B,I] by weights [I,O] and bias [O] to [B,O].
func dense(x, weights, bias Dual) Dual {
	y := product(func(a, b *graph.Node) *graph.Node { return graph.Dot(a, b).Product() }, x, weights)
	rows := lift(func(n *graph.Node) *graph.Node { return graph.ExpandAxes(n, 0) }, bias)
	return Dual{Value: graph.Add(y.Value, rows.Value), Tangent: addRow(y.Tangent, rows.Tangent, y.Value)}
}

// addRow adds a bias tangent [1,O] to a tangent [B,O], either of which may be zero.
func addRow(y, row, like *graph.Node) *graph.Node {
	if y == nil && row != nil {
		return graph.BroadcastToShape(row, like.Shape())
	}
	return plus(y, row)
}

// relu is max(x,0), with derivative 0 at 0.
func relu(x Dual) Dual {
	out := Dual{Value: graph.MaxScalar(x.Value, 0.0)}
	if x.Tangent != nil {
		positive := graph.GreaterThan(x.Value, graph.ZerosLike(x.Value))
		out.Tangent = graph.Where(positive, x.Tangent, graph.ZerosLike(x.Tangent))
	}
	return out
}
