package model

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// PixelGradientAlong returns ∂/∂x⟨∇θℓ(θ,x), v⟩, with the shape of x [B,Inputs]. This is the mixed second
// derivative that memory editing follows (docs/method.md §3.2): twice its value for v = ∇θℓ−D is the gradient of
// the paper's objective.
//
// loss computes the scalar ℓ from the result of a forward computation, which normalises with the running statistics. If
// running is nil, it normalises with the batch's own, as in training, and the derivative takes them into account; weight [B]
// is each sample's share in them. direction is v: one node for each of params, where nil stands for zero, so that the
// classifier can be left out. v is treated as a constant.
//
// The tangent of ℓ along v is ⟨∇θℓ, v⟩. An ordinary gradient of that tangent is the exact result, and no operation
// needs a second derivative of its own. A network that computes no tangents, such as [NewScoped], is differentiated twice
// instead, which panics with the reason where GoMLX cannot.
func PixelGradientAlong(m Model, params, direction []*graph.Node, x, weight *graph.Node, running []*graph.Node, loss func(params []Dual, out Output) Dual) *graph.Node {
	if n := len(m.Layout().Params); len(params) != n || len(direction) != n {
		panic(fmt.Errorf("model: %d parameters and %d parts of a direction, want %d of each", len(params), len(direction), n))
	}
	duals := make([]Dual, len(params))
	for i, v := range direction {
		duals[i].Value = params[i]
		if v != nil {
			duals[i].Tangent = graph.StopGradient(v)
		}
	}
	l := loss(duals, m.Forward(Pass{Params: duals, X: Dual{Value: x}, Weight: weight, Running: running}))
	if l.Tangent == nil {
		return twice(m, params, direction, l.Value, x)
	}
	return graph.Gradient(l.Tangent, x)[0]
}

// twice returns ∂/∂x⟨∇θℓ(θ,x), v⟩ as the gradient of a gradient of the loss.
func twice(m Model, params, direction []*graph.Node, loss, x *graph.Node) *graph.Node {
	var moved, along []*graph.Node
	for i, v := range direction {
		if v != nil {
			moved, along = append(moved, params[i]), append(along, graph.StopGradient(v))
		}
	}
	if len(moved) == 0 {
		return graph.ZerosLike(x)
	}
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Errorf("memory editing needs a second derivative of %s, which GoMLX does not have: turn editing off, or build the network from the layers of package model: %v", m.Key(), r))
		}
	}()
	product := graph.ScalarZero(loss.Graph(), loss.DType())
	for i, g := range graph.Gradient(loss, moved...) {
		product = graph.Add(product, graph.ReduceAllSum(graph.Mul(g, along[i])))
	}
	return graph.Gradient(product, x)[0]
}
