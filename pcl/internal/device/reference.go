package device

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// hasReference returns where there is a reference value, and the values, with 0 where there is
// none.
func hasReference(reference *graph.Node) (has, value *graph.Node) {
	has = graph.LessThan(reference, graph.MulScalar(graph.OnesLike(reference), rehearsal.NoReference/2))
	return has, graph.Where(has, reference, graph.ZerosLike(reference))
}

// squaredDifferences returns for each sample [B] the mean of (logit − reference)² over the outputs
// that have a reference value, which is the loss of DER++ (docs/method.md §5.6). It is 0 for
// samples without reference values.
func squaredDifferences(logits model.Dual, reference *graph.Node) model.Dual {
	has, value := hasReference(reference)
	mask := graph.ConvertDType(has, logits.Value.DType())
	count := graph.MaxScalar(graph.ReduceSum(mask, 1), 1.0)
	difference := graph.Mul(mask, graph.Sub(logits.Value, value))
	return logits.Chain(graph.Div(graph.ReduceSum(graph.Square(difference), 1), count), func(dz *graph.Node) *graph.Node {
		return graph.Div(graph.MulScalar(graph.ReduceSum(graph.Mul(difference, dz), 1), 2), count)
	})
}

// softCrossEntropies returns for each sample [B] the cross-entropy −Σ q log p over the outputs that
// have a reference value, where q is the softmax of the reference values and p that of the logits,
// both divided by the temperature. It is the distillation of LwF (docs/method.md §8.6), and 0 for
// samples without reference values.
func softCrossEntropies(logits model.Dual, reference *graph.Node, temperature float64) model.Dual {
	has, value := hasReference(reference)
	mask := graph.ConvertDType(has, logits.Value.DType())
	low := graph.MulScalar(graph.OnesLike(value), masked)
	logSoftmax := func(z *graph.Node) *graph.Node {
		z = graph.Where(has, graph.MulScalar(z, 1/temperature), low)
		z = graph.Sub(z, graph.StopGradient(graph.ExpandAxes(graph.ReduceMax(z, 1), 1)))
		return graph.Sub(z, graph.ExpandAxes(graph.Log(graph.ReduceSum(graph.Exp(z), 1)), 1))
	}
	q, logP := graph.Mul(mask, graph.Exp(logSoftmax(value))), graph.Mul(mask, logSoftmax(logits.Value))
	return logits.Chain(graph.Neg(graph.ReduceSum(graph.Mul(q, logP), 1)), func(dz *graph.Node) *graph.Node {
		residual := graph.MulScalar(graph.Sub(graph.Mul(mask, graph.Exp(logP)), q), 1/temperature)
		return graph.ReduceSum(graph.Mul(residual, dz), 1)
	})
}

// sigmoidCrossEntropies returns for each sample [B] the sum of the binary cross-entropies of the
// outputs that compete, which is the loss of iCaRL (docs/method.md §5.7). The target of an output
// is the sigmoid of its reference value. If it has none, the target is 1 for the right class and 0
// for the others.
func sigmoidCrossEntropies(logits model.Dual, t goals, reference *graph.Node) model.Dual {
	z := logits.Value
	has, value := hasReference(reference)
	target := graph.Where(has, graph.Sigmoid(value), graph.OneHot(t.Label, z.Shape().Dimensions[1], z.DType()))
	competes := graph.ConvertDType(allowed(z, t.Lo, t.Hi), z.DType())
	softplus := graph.Log1P(graph.Exp(graph.Neg(graph.Abs(z))))
	each := graph.Add(graph.Sub(graph.MaxScalar(z, 0.0), graph.Mul(z, target)), softplus)
	return logits.Chain(graph.ReduceSum(graph.Mul(competes, each), 1), func(dz *graph.Node) *graph.Node {
		residual := graph.Mul(competes, graph.Sub(graph.Sigmoid(z), target))
		return graph.ReduceSum(graph.Mul(residual, dz), 1)
	})
}
