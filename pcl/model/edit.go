package model

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// PixelGradientAlong returns ∂/∂x⟨∇θℓ(θ,x), v⟩, of the shape of x [B,Inputs]: the mixed second
// derivative that memory editing follows (docs/method.md §3.2; twice it, with v = ∇θℓ−D, is the gradient of the
// paper's objective). loss gives ℓ, a scalar, of the forward computation with these parameters and the
// batch's own statistics, as in training, through which it differentiates; weight [B] is the samples'
// share in them. direction is v, a node for each of params, of which nil stands for zero, so that heads
// can be left out; v counts as a constant.
//
// The tangent of ℓ along v is ⟨∇θℓ, v⟩, and one ordinary gradient of it is exact: no operation needs a
// second derivative.
func PixelGradientAlong(m Model, params, direction []*graph.Node, x, weight *graph.Node, loss func(params []Dual, out Output) Dual) *graph.Node {
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
	along := loss(duals, m.Forward(Pass{Params: duals, X: Dual{Value: x}, Weight: weight})).Tangent
	if along == nil {
		return graph.ZerosLike(x)
	}
	return graph.Gradient(along, x)[0]
}
