package device

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// At is where a batch is looked at without training on it: the parameters, and the running
// statistics to normalise with; nil stands for the batch's own, and for a model that has none.
type At struct {
	Theta   compute.Buffer
	Parts   []compute.Buffer // if there are some, they take the place of Theta; see [PartsOf]
	Running []float32
}

// look returns a program that runs the model on a batch.
func (p *Set) look(at At, name string, l rehearsal.Loss, build func(s *pass) []*graph.Node) (*program.Program, error) {
	key := programKey{name: name, loss: l, running: at.Running != nil, parts: at.Parts != nil}
	return p.onBatch(key, nil, func(s *pass, theta, _ []*graph.Node) []*graph.Node { return build(s.open(theta)) })
}

// call runs a program that look returned. The batch's targets must have been set.
func (at At) call(p *program.Program, b *Batch, l rehearsal.Loss) ([]compute.Buffer, error) {
	theta := at.Parts
	if theta == nil {
		theta = []compute.Buffer{at.Theta}
	}
	return p.Call(theta, b.inputs(l), at.Running)
}

// scoring has of a loss what predictions depend on.
func scoring(l rehearsal.Loss) rehearsal.Loss {
	return rehearsal.Loss{Cosine: l.Cosine, Frobenius: l.Frobenius, Sharpness: l.Sharpness}
}

// Predict returns, for each sample, the competing output with the largest score.
func (p *Set) Predict(at At, b *Batch, l rehearsal.Loss) ([]int32, error) {
	l = scoring(l)
	look, err := p.look(at, "predict", l, func(s *pass) []*graph.Node {
		return []*graph.Node{predicted(s.scores(l).Value, p.target(s.targets, targetLo), p.target(s.targets, targetHi))}
	})
	if err != nil {
		return nil, err
	}
	out, err := at.call(look, b, l)
	if err != nil {
		return nil, err
	}
	defer program.Free(out...)
	read, err := program.Read[int32](out[0], p.Batch)
	if err != nil {
		return nil, err
	}
	return slices.Clone(read)[:b.N], nil
}

// Losses returns the loss of each sample.
func (p *Set) Losses(at At, b *Batch, l rehearsal.Loss) ([]float64, error) {
	look, err := p.look(at, "losses", l, func(s *pass) []*graph.Node { return []*graph.Node{s.losses(l).Value} })
	if err != nil {
		return nil, err
	}
	out, err := at.call(look, b, l)
	if err != nil {
		return nil, err
	}
	defer program.Free(out...)
	each := make([]float64, b.N)
	read, err := program.Read[float32](out[0], p.Batch)
	if err != nil {
		return nil, err
	}
	for i, x := range read[:b.N] {
		each[i] = float64(x)
	}
	return each, nil
}

// Describe returns the scores of all outputs, and the features, of each sample.
func (p *Set) Describe(at At, b *Batch, l rehearsal.Loss) (scores, features [][]float32, err error) {
	describe, err := p.describe(at, scoring(l))
	if err != nil {
		return nil, nil, err
	}
	out, err := at.call(describe, b, scoring(l))
	if err != nil {
		return nil, nil, err
	}
	defer program.Free(out...)
	if scores, err = matrix(out[0], b.N); err != nil {
		return nil, nil, err
	}
	features, err = matrix(out[1], b.N)
	return scores, features, err
}

// CompileDescribe compiles in advance what [Set.Describe] runs.
func (p *Set) CompileDescribe(at At, l rehearsal.Loss) error {
	_, err := p.describe(at, scoring(l))
	return err
}

func (p *Set) describe(at At, l rehearsal.Loss) (*program.Program, error) {
	return p.look(at, "describe", l, func(s *pass) []*graph.Node {
		return []*graph.Node{s.scores(l).Value, s.out.Features.Value}
	})
}

// Gradient returns the gradient of the mean loss of a batch over all parameters.
func (p *Set) Gradient(at At, b *Batch, l rehearsal.Loss) (compute.Buffer, error) {
	prog, err := p.gradient(l, false, 1)
	if err != nil {
		return nil, err
	}
	if at.Running != nil {
		if prog, err = p.look(at, "gradient", l, func(s *pass) []*graph.Node { return s.gradient(l)[:2] }); err != nil {
			return nil, err
		}
	}
	out, err := at.call(prog, b, l)
	if err != nil {
		return nil, err
	}
	program.Free(out[1:]...)
	return out[0], nil
}

// Pixels returns the derivative ∂ℓ/∂x of each sample's loss by its own pixels.
func (p *Set) Pixels(at At, b *Batch, l rehearsal.Loss) ([][]float32, error) {
	look, err := p.look(at, "pixels", l, func(s *pass) []*graph.Node {
		return graph.Gradient(graph.ReduceAllSum(s.losses(l).Value), s.x)
	})
	if err != nil {
		return nil, err
	}
	out, err := at.call(look, b, l)
	if err != nil {
		return nil, err
	}
	defer program.Free(out...)
	return matrix(out[0], b.N)
}
