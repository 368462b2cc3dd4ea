package model

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
)

// Targets say what a batch of B samples should predict, and which outputs compete. All nodes are [B].
type Targets struct {
	Label  *graph.Node // int32: the output of the right class
	Lo, Hi *graph.Node // int32: the outputs in [Lo,Hi) compete, all others have probability 0
	Weight *graph.Node // float: the sample's share in the mean loss; 0 for padding
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

// Competing is the logits of the outputs that compete, with −1e30 in place of the others. It has no tangent.
func Competing(logits Dual, t Targets) Dual { return Dual{Value: mask(logits.Value, t.Lo, t.Hi)} }

// mask replaces the logits of outputs that do not compete by a number that stands for −∞.
func mask(logits, lo, hi *graph.Node) *graph.Node {
	low := graph.MulScalar(graph.OnesLike(logits), masked)
	return graph.Where(allowed(logits, lo, hi), logits, low)
}

// CrossEntropies returns the softmax cross-entropy of each sample over the outputs that compete, [B]
// (docs/protocol.md §2.1).
func CrossEntropies(logits Dual, t Targets) Dual {
	z := mask(logits.Value, t.Lo, t.Hi)
	oneHot := graph.OneHot(t.Label, z.Shape().Dimensions[1], z.DType())
	shifted := graph.Sub(z, graph.StopGradient(graph.ExpandAxes(graph.ReduceMax(z, 1), 1)))
	exp := graph.Exp(shifted)
	total := graph.ReduceSum(exp, 1)
	right := graph.ReduceSum(graph.Mul(oneHot, shifted), 1)
	return dual(graph.Sub(graph.Log(total), right), logits, func(dz *graph.Node) *graph.Node {
		residual := graph.Sub(graph.Div(exp, graph.ExpandAxes(total, 1)), oneHot)
		return graph.ReduceSum(graph.Mul(residual, dz), 1)
	})
}

// Mean returns the weighted mean of the samples' losses: their sum, each multiplied by its share.
func Mean(perSample Dual, weight *graph.Node) Dual {
	return lift(func(n *graph.Node) *graph.Node { return graph.ReduceAllSum(graph.Mul(n, weight)) }, perSample)
}

// Predict returns for each sample the competing output with the largest logit, int32 [B].
func Predict(logits, lo, hi *graph.Node) *graph.Node {
	return graph.ArgMax(mask(logits, lo, hi), 1, dtypes.Int32)
}
