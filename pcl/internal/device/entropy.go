package device

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/model"
)

// goals say what a batch of B samples should predict, and which outputs compete. All nodes are
// int32 [B].
type goals struct {
	Label  *graph.Node // the output of the right class
	Lo, Hi *graph.Node // the outputs in [Lo,Hi) compete, all others have probability 0
}

// masked is a logit that stands for −∞, but is finite so that every gradient stays finite.
const masked = -1e30

// allowed returns booleans [B,C], which are true where an output competes for a sample.
func allowed(logits, lo, hi *graph.Node) *graph.Node {
	dims := logits.Shape().Dimensions
	class := graph.Iota(logits.Graph(), shapes.Make(dtypes.Int32, dims...), 1)
	atLeast := graph.GreaterOrEqual(class, graph.ExpandAxes(lo, 1))
	below := graph.LessThan(class, graph.ExpandAxes(hi, 1))
	return graph.LogicalAnd(atLeast, below)
}

// competing is the logits of the outputs that compete, with −1e30 in place of the others. It has no
// tangent.
func competing(logits model.Dual, t goals) model.Dual {
	return model.Dual{Value: mask(logits.Value, t.Lo, t.Hi)}
}

// mask replaces the logits of outputs that do not compete by a number that stands for −∞.
func mask(logits, lo, hi *graph.Node) *graph.Node {
	low := graph.MulScalar(graph.OnesLike(logits), masked)
	return graph.Where(allowed(logits, lo, hi), logits, low)
}

// crossEntropies returns the softmax cross-entropy of each sample over the outputs that compete,
// [B] (docs/protocol.md §2.1).
func crossEntropies(logits model.Dual, t goals) model.Dual {
	z := mask(logits.Value, t.Lo, t.Hi)
	oneHot := graph.OneHot(t.Label, z.Shape().Dimensions[1], z.DType())
	shifted := graph.Sub(z, graph.StopGradient(graph.ExpandAxes(graph.ReduceMax(z, 1), 1)))
	exp := graph.Exp(shifted)
	total := graph.ReduceSum(exp, 1)
	right := graph.ReduceSum(graph.Mul(oneHot, shifted), 1)
	return logits.Chain(graph.Sub(graph.Log(total), right), func(dz *graph.Node) *graph.Node {
		residual := graph.Sub(graph.Div(exp, graph.ExpandAxes(total, 1)), oneHot)
		return graph.ReduceSum(graph.Mul(residual, dz), 1)
	})
}

// predicted returns for each sample the competing output with the largest logit, int32 [B].
func predicted(logits, lo, hi *graph.Node) *graph.Node {
	return graph.ArgMax(mask(logits, lo, hi), 1, dtypes.Int32)
}
