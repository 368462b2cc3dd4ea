package device

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// At is where a batch is looked at without training on it: the parameters, and the running statistics to normalise with; nil
// stands for the batch's own, and for a model that has none.
type At struct {
	Theta   compute.Buffer
	Running []float32
}

// look returns a program that runs the model on a batch.
func (p *Set) look(at At, name string, l rehearsal.Loss, build func(s *pass) []*graph.Node) *program.Program {
	key := programKey{name: name, loss: l, running: at.Running != nil}
	return p.onBatch(key, nil, func(s *pass, theta *graph.Node, _ []*graph.Node) []*graph.Node {
		return build(s.open(split(theta, p.Model.Layout().Params)))
	})
}

// call runs a program that look returned. The batch's targets must have been set.
func (at At) call(p *program.Program, b *Batch, l rehearsal.Loss) []compute.Buffer {
	return p.Call(at.Theta, b.inputs(l), at.Running)
}

// scoring has of a loss what predictions depend on.
func scoring(l rehearsal.Loss) rehearsal.Loss {
	return rehearsal.Loss{Cosine: l.Cosine, Frobenius: l.Frobenius, Sharpness: l.Sharpness}
}

// Predict returns, for each sample, the competing output with the largest score.
func (p *Set) Predict(at At, b *Batch, l rehearsal.Loss) []int32 {
	l = scoring(l)
	out := at.call(p.look(at, "predict", l, func(s *pass) []*graph.Node {
		return []*graph.Node{predicted(s.scores(l).Value, p.target(s.targets, targetLo), p.target(s.targets, targetHi))}
	}), b, l)
	defer program.Free(out...)
	return slices.Clone(program.Read[int32](out[0], p.Batch))[:b.N]
}

// Losses returns the loss of each sample.
func (p *Set) Losses(at At, b *Batch, l rehearsal.Loss) []float64 {
	out := at.call(p.look(at, "losses", l, func(s *pass) []*graph.Node { return []*graph.Node{s.losses(l).Value} }), b, l)
	defer program.Free(out...)
	each := make([]float64, b.N)
	for i, x := range program.Read[float32](out[0], p.Batch)[:b.N] {
		each[i] = float64(x)
	}
	return each
}

// Describe returns the scores of all outputs, and the features, of each sample.
func (p *Set) Describe(at At, b *Batch, l rehearsal.Loss) (scores, features [][]float32) {
	out := at.call(p.describe(at, scoring(l)), b, scoring(l))
	defer program.Free(out...)
	return matrix(out[0], b.N), matrix(out[1], b.N)
}

// CompileDescribe compiles in advance what [Set.Describe] runs.
func (p *Set) CompileDescribe(at At, l rehearsal.Loss) { p.describe(at, scoring(l)) }

func (p *Set) describe(at At, l rehearsal.Loss) *program.Program {
	return p.look(at, "describe", l, func(s *pass) []*graph.Node { return []*graph.Node{s.scores(l).Value, s.out.Features.Value} })
}

// Gradient returns the gradient of the mean loss of a batch over all parameters.
func (p *Set) Gradient(at At, b *Batch, l rehearsal.Loss) compute.Buffer {
	prog := p.gradient(l, false, 1)
	if at.Running != nil {
		prog = p.look(at, "gradient", l, func(s *pass) []*graph.Node { return s.gradient(l)[:2] })
	}
	out := at.call(prog, b, l)
	program.Free(out[1:]...)
	return out[0]
}

// Pixels returns the derivative ∂ℓ/∂x of each sample's loss by its own pixels.
func (p *Set) Pixels(at At, b *Batch, l rehearsal.Loss) [][]float32 {
	out := at.call(p.look(at, "pixels", l, func(s *pass) []*graph.Node {
		return graph.Gradient(graph.ReduceAllSum(s.losses(l).Value), s.x)
	}), b, l)
	defer program.Free(out...)
	return matrix(out[0], b.N)
}
