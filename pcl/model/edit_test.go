package model

import (
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// TestPixelGradientAlong compares with the gradient of a gradient, which the operations of an MLP have,
// for a direction of which the classifier is left out, and with all of it left out.
func TestPixelGradientAlong(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		p := newProblem(t)
		v := normal(rand.New(rand.NewPCG(6, 6)), len(p.theta))
		in := append([]tensor{floats(p.theta, len(p.theta)), floats(p.x, batch, 6), floats(v, len(v))}, p.targets...)
		got := compile(t, b, in, func(n []*graph.Node) []*graph.Node {
			parts, along := p.net.Layout().Split(n[0]), p.net.Layout().Split(n[2])
			along[4], along[5] = nil, nil
			targets := targetsOf(n[3:])
			loss := meanEntropy(p.net.Forward(Pass{Params: duals(parts), X: Dual{Value: n[1]}}).Logits, targets).Value
			product := graph.ScalarZero(loss.Graph(), loss.DType())
			for i, g := range graph.Gradient(loss, parts[:4]...) {
				product = graph.Add(product, graph.ReduceAllSum(graph.Mul(g, along[i])))
			}
			return []*graph.Node{
				PixelGradientAlong(p.net, parts, along, n[1], n[6], nil, entropy(targets)), graph.Gradient(product, n[1])[0],
				PixelGradientAlong(p.net, parts, make([]*graph.Node, 6), n[1], n[6], nil, entropy(targets)),
			}
		})(in)
		within(t, "the gradient of a gradient", 1e-14, got[0], got[1]...)
		within(t, "along nothing", 0, got[2], make([]float64, len(got[1]))...)
		if dot(got[1], got[1]) == 0 {
			t.Error("there is nothing to compare")
		}
	})
}

// TestDirectionIsConstant: a direction that is computed from x, as ∇θℓ(x)−D is, counts as a constant.
func TestDirectionIsConstant(t *testing.T) {
	p := newProblem(t)
	in := append([]tensor{floats(p.theta, len(p.theta)), floats(p.x, batch, 6), floats(p.gradient(t, p.x), len(p.theta))}, p.targets...)
	got := run(t, in, func(n []*graph.Node) []*graph.Node {
		parts := p.net.Layout().Split(n[0])
		targets := targetsOf(n[3:])
		loss := meanEntropy(p.net.Forward(Pass{Params: duals(parts), X: Dual{Value: n[1]}}).Logits, targets).Value
		return []*graph.Node{
			PixelGradientAlong(p.net, parts, graph.Gradient(loss, parts...), n[1], n[6], nil, entropy(targets)),
			PixelGradientAlong(p.net, parts, p.net.Layout().Split(n[2]), n[1], n[6], nil, entropy(targets)),
		}
	})
	within(t, "along a direction computed from x", 1e-14, got[0], got[1]...)
}
