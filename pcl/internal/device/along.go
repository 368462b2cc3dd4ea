package device

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// pixelsAlong returns ∂/∂x⟨∇θℓ(θ,x), v⟩ of a batch's mean loss ℓ, with the shape of x [B,Inputs].
// This is the mixed second derivative that memory editing follows (docs/method.md §3.2): twice its
// value for v = ∇θℓ−D is the gradient of the paper's objective. direction is v, along which the
// model was opened.
//
// The tangent of ℓ along v is ⟨∇θℓ, v⟩. An ordinary gradient of that tangent is the exact result,
// and no operation needs a second derivative of its own. A network that computes no tangents, such
// as one of model.NewScoped, is differentiated twice instead, which panics with the reason where
// GoMLX cannot.
func (s *pass) pixelsAlong(direction []*graph.Node, l rehearsal.Loss) *graph.Node {
	mean := func(n *graph.Node) *graph.Node { return graph.ReduceAllSum(graph.Mul(n, s.weight)) }
	each := s.losses(l)
	loss := each.Chain(mean(each.Value), mean)
	if loss.Tangent == nil {
		return s.twice(direction, loss.Value)
	}
	return graph.Gradient(loss.Tangent, s.x)[0]
}

// twice computes the same by differentiating the loss twice.
func (s *pass) twice(direction []*graph.Node, loss *graph.Node) *graph.Node {
	var moved, along []*graph.Node
	for i, v := range direction {
		if v != nil {
			moved, along = append(moved, s.parts[i]), append(along, graph.StopGradient(v))
		}
	}
	if len(moved) == 0 {
		return graph.ZerosLike(s.x)
	}
	defer func() {
		if r := recover(); r != nil {
			panic(fmt.Errorf("memory editing needs a second derivative of %s, which GoMLX does not have: turn editing off, "+
				"or build the network from the layers of package model: %v", s.set.Model.Key(), r))
		}
	}()
	product := graph.ScalarZero(loss.Graph(), loss.DType())
	for i, g := range graph.Gradient(loss, moved...) {
		product = graph.Add(product, graph.ReduceAllSum(graph.Mul(g, along[i])))
	}
	return graph.Gradient(product, s.x)[0]
}
