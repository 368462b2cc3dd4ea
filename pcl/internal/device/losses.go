package device

import (
	"cmp"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// referenced says whether a loss compares outputs with reference values.
func referenced(l rehearsal.Loss) bool {
	return l.Sigmoid || l.StoredLogits || l.Distill > 0 || l.Teacher > 0 || l.Adjust > 0
}

// scores returns what predictions compare: the logits or, for a cosine loss, the cosines times a
// factor.
func (s *pass) scores(l rehearsal.Loss) model.Dual {
	if !l.Cosine {
		return s.out.Logits
	}
	return scaled(s.cosines(l), l.Sharpness)
}

// cosines returns the cosines of the angles between the features and the classifier's weights.
func (s *pass) cosines(l rehearsal.Loss) model.Dual {
	return cosines(s.out.Features, s.params[s.set.Model.Layout().Classifier], l.Frobenius)
}

// ofTask returns the outputs of each sample's own task, as many as it has target values.
func (s *pass) ofTask(outputs model.Dual) model.Dual {
	n, all := s.set.targets(), s.set.Model.Outputs()
	if n == all {
		return outputs
	}
	lo := graph.Reshape(s.set.target(s.targets, targetTaskLo), -1, 1)
	each := graph.Iota(lo.Graph(), shapes.Make(dtypes.Int32, s.set.Batch, n), 1)
	// [B, n, outputs]
	chosen := graph.OneHot(graph.Add(each, graph.BroadcastToDims(lo, s.set.Batch, n)), all, outputs.Value.DType())
	pick := func(v *graph.Node) *graph.Node {
		return graph.ReduceSum(graph.Mul(chosen, graph.BroadcastToDims(graph.ExpandAxes(v, 1), s.set.Batch, n, all)), 2)
	}
	picked := model.Dual{Value: pick(outputs.Value)}
	if outputs.Tangent != nil {
		picked.Tangent = pick(outputs.Tangent)
	}
	return picked
}

// losses returns the loss of each sample, [B].
func (s *pass) losses(l rehearsal.Loss) model.Dual {
	p := s.set
	t := goals{
		Lo: p.target(s.targets, targetLo), Hi: p.target(s.targets, targetHi),
		Label: p.target(s.targets, targetLabel),
	}
	scores := s.scores(l)
	if l.Cosine && (l.ClassMargin != 0 || l.TaskMargin != 0) && !l.Sigmoid && !l.StoredLogits {
		scores = scaled(withMargins(s.cosines(l), t.Label, margins{
			Class: l.ClassMargin, Task: l.TaskMargin,
			TaskLo: p.target(s.targets, targetTaskLo), TaskHi: p.target(s.targets, targetTaskHi),
		}), l.Sharpness)
	}
	if l.Adjust > 0 {
		scores.Value = graph.Add(scores.Value, s.reference)
	}
	var each model.Dual
	unknown := false // whether a loss of one's own has a tangent that nobody computed
	switch {
	case l.Sigmoid:
		each = sigmoidCrossEntropies(scores, t, s.reference)
	case l.StoredLogits:
		each = squaredDifferences(scores, s.reference)
	default:
		if p.Loss == nil {
			each = crossEntropies(scores, t)
			break
		}
		if p.targets() == 0 { // a loss of classes
			each = p.Loss.Losses(competing(scores, t), t.Label)
		} else {
			each = p.Loss.Losses(s.ofTask(scores), s.wanted)
		}
		unknown = each.Tangent == nil && scores.Tangent != nil
	}
	if by := cmp.Or(l.Scale, 1); by != 1 {
		each = scaled(each, by)
	}
	if l.Distill > 0 {
		each = model.Sum(each, scaled(squaredDifferences(s.scores(l), s.reference), l.Distill))
	}
	if l.Teacher > 0 {
		each = model.Sum(each, scaled(softCrossEntropies(s.scores(l), s.reference, l.Temperature), l.Teacher))
	}
	if unknown {
		each.Tangent = nil // that of the other terms alone would be wrong
	}
	return each
}
