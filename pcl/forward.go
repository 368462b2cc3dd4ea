package pcl

import (
	"math"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// The programs that look at a batch without training on it; they normalise with running statistics.

// predict gives the competing output with the largest score, [B].
func (p *programs) predict(l method.Loss) (*program.Program, error) {
	key := method.Loss{Cosine: l.Cosine, Frobenius: l.Frobenius, Sharpness: l.Sharpness}
	return p.lazy(programKey{"predict", key, 0}, p.evaluationInputs(false), func(in []*graph.Node) []*graph.Node {
		s := p.evaluate(in)
		return []*graph.Node{model.Predict(s.scores(l).Value, p.target(in[2], targetLo), p.target(in[2], targetHi))}
	})
}

// each gives the loss of each sample, [B].
func (p *programs) each(l method.Loss) (*program.Program, error) {
	return p.lazy(programKey{"losses", l, 0}, p.evaluationInputs(referenced(l)), func(in []*graph.Node) []*graph.Node {
		return []*graph.Node{p.evaluate(in).losses(l).Value}
	})
}

// describe gives scores [B, outputs] and features [B, F].
func (p *programs) describe(l method.Loss) (*program.Program, error) {
	key := method.Loss{Cosine: l.Cosine, Frobenius: l.Frobenius, Sharpness: l.Sharpness}
	return p.lazy(programKey{"describe", key, 0}, p.evaluationInputs(false), func(in []*graph.Node) []*graph.Node {
		s := p.evaluate(in)
		return []*graph.Node{s.scores(l).Value, s.out.Features.Value}
	})
}

// pixels gives ∂ℓ/∂x of each sample, [B, inputs].
func (p *programs) pixels(l method.Loss) (*program.Program, error) {
	return p.lazy(programKey{"pixels", l, 0}, p.evaluationInputs(referenced(l)), func(in []*graph.Node) []*graph.Node {
		return graph.Gradient(graph.ReduceAllSum(p.evaluate(in).losses(l).Value), in[1])
	})
}

// look runs one of these programs on a batch that has been aimed.
func (l *Learner) look(p *program.Program, theta compute.Buffer, b *hostBatch, reference bool) ([]compute.Buffer, error) {
	in, done, err := b.upload(l.options.Backend, reference)
	if err != nil {
		return nil, err
	}
	defer done()
	if l.statistics != nil {
		s, err := program.ToDevice(l.options.Backend, l.statistics, len(l.statistics))
		if err != nil {
			return nil, err
		}
		defer program.Free(s)
		in = append(in, s)
	}
	return p.Call(append([]compute.Buffer{theta}, in...)...)
}

// lossesAt returns the loss of each sample of a batch that has been aimed.
func (l *Learner) lossesAt(theta compute.Buffer, b *hostBatch, loss method.Loss) ([]float64, error) {
	p, err := l.programs.each(loss)
	if err != nil {
		return nil, err
	}
	out, err := l.look(p, theta, b, referenced(loss))
	if err != nil {
		return nil, err
	}
	defer program.Free(out...)
	values := make([]float32, len(b.Class))
	if err := program.ToHost(values, out[0]); err != nil {
		return nil, err
	}
	each := make([]float64, b.N)
	for i := range each {
		each[i] = float64(values[i])
	}
	return each, nil
}

// describeAt returns the scores and the features of a batch that has been aimed.
func (l *Learner) describeAt(theta compute.Buffer, b *hostBatch, loss method.Loss) (scores, features [][]float32, err error) {
	p, err := l.programs.describe(loss)
	if err != nil {
		return nil, nil, err
	}
	out, err := l.look(p, theta, b, false)
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

// matrix reads the first n rows of a buffer [B, width].
func matrix(b compute.Buffer, n int) ([][]float32, error) {
	shape, err := b.Shape()
	if err != nil {
		return nil, err
	}
	flat := make([]float32, shape.Size())
	if err := program.ToHost(flat, b); err != nil {
		return nil, err
	}
	width := shape.Dimensions[1]
	return slices.Collect(slices.Chunk(flat[:n*width], width)), nil
}

// teach fills the reference with the logits of the remembered model, for the outputs of the tasks that
// were over then.
func (l *Learner) teach(b *hostBatch) error {
	outputs := l.options.Model.Outputs()
	if b.blank(outputs); l.remembered == nil {
		return nil
	}
	logits, _, err := l.describeAt(l.remembered, b, method.Loss{})
	if err != nil {
		return err
	}
	for i, row := range logits {
		for _, task := range l.rememberedTasks {
			for _, o := range l.slots.tasks[task].output {
				b.reference[i*outputs+o] = row[o]
			}
		}
	}
	return nil
}

// momentum is the share of the old running statistics that a batch leaves.
const momentum = 0.9

// runStatistics takes the statistics of a batch into the running ones, unless they are not finite.
func (l *Learner) runStatistics(batch []float32) {
	for _, x := range batch {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return
		}
	}
	for i, x := range batch {
		l.statistics[i] = momentum*l.statistics[i] + (1-momentum)*x
	}
}
