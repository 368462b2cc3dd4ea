package graphs

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// The programs in this file look at a batch without training on it. They normalise with the running statistics, but for
// [Set.TrainingLosses].

// Predict returns the program (θ, x, targets[, running statistics]) → the competing output with the largest
// score, [B].
func (p *Set) Predict(l rehearsal.Loss) *program.Program {
	key := rehearsal.Loss{Cosine: l.Cosine, Frobenius: l.Frobenius, Sharpness: l.Sharpness}
	return p.lazy(programKey{"predict", key, 0}, p.evaluationInputs(false), func(in []*graph.Node) []*graph.Node {
		s := p.evaluate(in)
		return []*graph.Node{model.Predict(s.scores(l).Value, p.target(in[2], TargetLo), p.target(in[2], TargetHi))}
	})
}

// Losses returns the program (θ, x, targets[, reference][, running statistics]) → the loss of each sample, [B].
func (p *Set) Losses(l rehearsal.Loss) *program.Program {
	return p.lazy(programKey{"losses", l, 0}, p.evaluationInputs(Referenced(l)), func(in []*graph.Node) []*graph.Node {
		return []*graph.Node{p.evaluate(in).losses(l).Value}
	})
}

// Describe returns the program (θ, x, targets[, running statistics]) → (scores [B, outputs], features [B, F]).
func (p *Set) Describe(l rehearsal.Loss) *program.Program {
	key := rehearsal.Loss{Cosine: l.Cosine, Frobenius: l.Frobenius, Sharpness: l.Sharpness}
	return p.lazy(programKey{"describe", key, 0}, p.evaluationInputs(false), func(in []*graph.Node) []*graph.Node {
		s := p.evaluate(in)
		return []*graph.Node{s.scores(l).Value, s.out.Features.Value}
	})
}

// GradientAlone returns the program (θ, x, targets[, reference][, running statistics]) → (gradient, loss): [Set.Gradient] for
// batches that are too small for statistics of their own, such as single samples.
func (p *Set) GradientAlone(l rehearsal.Loss) *program.Program {
	if p.Model.Layout().StatsTotal == 0 {
		return p.Gradient(l, false, 1)
	}
	return p.lazy(programKey{"gradient-alone", l, 0}, p.evaluationInputs(Referenced(l)), func(in []*graph.Node) []*graph.Node {
		parts, last := p.Model.Layout().Split(in[0]), len(in)-1
		pass := p.open(in[:last], parts, p.Model.Layout().SplitStats(in[last]))
		return pass.gradient(l, parts)[:2]
	})
}

// Pixels returns the program (θ, x, targets[, reference][, running statistics]) → the derivative ∂ℓ/∂x of each
// sample's loss by its own pixels, [B, inputs].
func (p *Set) Pixels(l rehearsal.Loss) *program.Program {
	return p.lazy(programKey{"pixels", l, 0}, p.evaluationInputs(Referenced(l)), func(in []*graph.Node) []*graph.Node {
		s := p.evaluate(in)
		return graph.Gradient(graph.ReduceAllSum(s.losses(l).Value), s.x)
	})
}

// TrainingLosses returns the program (θ, x, targets[, reference]) → the loss of each sample, [B]. As in [Set.Gradient], a batch
// is normalised by its own statistics.
func (p *Set) TrainingLosses(l rehearsal.Loss) *program.Program {
	return p.lazy(programKey{"training losses", l, 0}, p.batchInputs(Referenced(l)), func(in []*graph.Node) []*graph.Node {
		return []*graph.Node{p.open(in, p.Model.Layout().Split(in[0]), nil).losses(l).Value}
	})
}
