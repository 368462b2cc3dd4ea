package model

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// PixelGradientAlong returns ∂/∂x⟨∇θℓ(θ,x), v⟩, of the shape of x [B,Inputs]: the mixed second
// derivative that memory editing follows (METHODS §6; twice it, with v = ∇θℓ−D, is the gradient of the
// paper's objective). ℓ is the cross-entropy with the batch's own statistics, as in training, through
// which it differentiates; weight [B] is the samples' share in them. direction is v, a node for each of
// params, of which nil stands for zero, so that heads can be left out; v counts as a constant.
//
// The tangent of ℓ along v is ⟨∇θℓ, v⟩, and one ordinary gradient of it is exact: no operation needs a
// second derivative.
func PixelGradientAlong(m Model, params, direction []*graph.Node, x, weight *graph.Node, t Targets) *graph.Node {
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
	logits := m.Forward(Pass{Params: duals, X: Dual{Value: x}, Weight: weight}).Logits
	along := CrossEntropy(logits, t).Tangent
	if along == nil {
		return graph.ZerosLike(x)
	}
	return graph.Gradient(along, x)[0]
}
