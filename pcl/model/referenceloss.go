package model

import (
	"github.com/gomlx/gomlx/core/graph"
)

// NoReference stands in a reference [B,C] for an output without one.
const NoReference = 1e30

// hasReference is true where the reference holds a value, and the value, with 0 elsewhere.
func hasReference(reference *graph.Node) (has, value *graph.Node) {
	has = graph.LessThan(reference, graph.MulScalar(graph.OnesLike(reference), NoReference/2))
	return has, graph.Where(has, reference, graph.ZerosLike(reference))
}

// SquaredDifferences is the mean over the outputs that have a reference of (logit − reference)², for
// each sample [B] (DER++, docs/method.md §5.6). Samples without any have loss 0.
func SquaredDifferences(logits Dual, reference *graph.Node) Dual {
	has, value := hasReference(reference)
	mask := graph.ConvertDType(has, logits.Value.DType())
	count := graph.MaxScalar(graph.ReduceSum(mask, 1), 1.0)
	difference := graph.Mul(mask, graph.Sub(logits.Value, value))
	out := Dual{Value: graph.Div(graph.ReduceSum(graph.Square(difference), 1), count)}
	if logits.Tangent != nil {
		out.Tangent = graph.Div(graph.MulScalar(graph.ReduceSum(graph.Mul(difference, logits.Tangent), 1), 2), count)
	}
	return out
}

// SigmoidCrossEntropies is the binary cross-entropy of each sample [B], summed over the outputs that
// compete. An output's target is the sigmoid of its reference, where it has one, and else 1 for the
// right class and 0 for the others (iCaRL, docs/method.md §5.7).
func SigmoidCrossEntropies(logits Dual, t Targets, reference *graph.Node) Dual {
	z := logits.Value
	has, value := hasReference(reference)
	target := graph.Where(has, graph.Sigmoid(value), graph.OneHot(t.Label, z.Shape().Dimensions[1], z.DType()))
	competes := graph.ConvertDType(Allowed(z, t.Lo, t.Hi), z.DType())
	softplus := graph.Log1P(graph.Exp(graph.Neg(graph.Abs(z))))
	each := graph.Add(graph.Sub(graph.MaxScalar(z, 0.0), graph.Mul(z, target)), softplus)
	out := Dual{Value: graph.ReduceSum(graph.Mul(competes, each), 1)}
	if logits.Tangent != nil {
		residual := graph.Mul(competes, graph.Sub(graph.Sigmoid(z), target))
		out.Tangent = graph.ReduceSum(graph.Mul(residual, logits.Tangent), 1)
	}
	return out
}
