package pcl

import (
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// A program looks at a batch at some parameters without training on it. The batch's targets must have been set.

// look runs a program that normalises with the running statistics.
func (l *Learner) look(p *program.Program, theta compute.Buffer, b *device.Batch, reference bool) []compute.Buffer {
	return l.execute(p, theta, b, reference, l.statisticsOf(theta))
}

// execute runs a program on a batch. running are the statistics to normalise with; nil stands for the batch's own. more are
// inputs between θ and the batch.
func (l *Learner) execute(p *program.Program, theta compute.Buffer, b *device.Batch, reference bool, running []float32, more ...compute.Buffer) []compute.Buffer {
	in, done := b.Inputs(l.options.Backend, reference)
	defer done()
	if running != nil {
		s := l.upload(running)
		defer program.Free(s)
		in = append(in, s)
	}
	return p.Call(slices.Concat([]compute.Buffer{theta}, more, in)...)
}

// statisticsOf returns the running statistics that belong to parameters on the device: their own for a network that was
// trained apart, otherwise the present ones. It returns nil if the model has none.
func (l *Learner) statisticsOf(theta compute.Buffer) []float32 {
	if o := &l.others; theta == o.apart[0] && o.statistics != nil {
		return o.statistics
	}
	return l.network.statistics
}

// losses returns what a program says is the loss of each sample of a batch.
func (l *Learner) losses(p *program.Program, theta compute.Buffer, running []float32, b *device.Batch, loss rehearsal.Loss) []float64 {
	out := l.execute(p, theta, b, graphs.Referenced(loss), running)
	defer program.Free(out...)
	each := make([]float64, b.N)
	for i, x := range program.Read[float32](out[0], len(b.Class))[:b.N] {
		each[i] = float64(x)
	}
	return each
}

// lossesAt returns the loss of each sample of a batch.
func (l *Learner) lossesAt(theta compute.Buffer, b *device.Batch, loss rehearsal.Loss) []float64 {
	return l.losses(l.programs.Losses(loss), theta, l.statisticsOf(theta), b, loss)
}

// gradientAlone returns the gradient at θ, and over all parameters, of the mean loss of a batch that is normalised with the
// running statistics. It must be freed.
func (l *Learner) gradientAlone(theta compute.Buffer, b *device.Batch, loss rehearsal.Loss) compute.Buffer {
	out := l.look(l.programs.GradientAlone(loss), theta, b, graphs.Referenced(loss))
	program.Free(out[1:]...)
	return out[0]
}

// describeAt returns the scores and the features of each sample of a batch.
func (l *Learner) describeAt(theta compute.Buffer, b *device.Batch, loss rehearsal.Loss) (scores, features [][]float32) {
	out := l.look(l.programs.Describe(loss), theta, b, false)
	defer program.Free(out...)
	return device.Matrix(out[0], b.N), device.Matrix(out[1], b.N)
}

// predictAt returns the output that is predicted for each sample of a batch. It sets the batch's targets itself, so that the
// outputs that compete are those of prediction, not those of training. theta and the batch are on the client of the set; running
// are the statistics that belong to theta.
func (l *Learner) predictAt(set *graphs.Set, theta compute.Buffer, running []float32, b *device.Batch, rule rehearsal.Rule) []int32 {
	b.Aim(l.heads, rehearsal.Loss{})
	build := set.Predict
	if rule != nil {
		build = set.Describe
	}
	out := l.execute(build(l.options.lossOf(method.Memory)), theta, b, false, running)
	defer program.Free(out...)
	if rule != nil {
		return l.predictByRule(b, device.Matrix(out[0], b.N), device.Matrix(out[1], b.N), rule)
	}
	return program.Values[int32](out[0], len(b.Class))[:b.N]
}

// predictByRule is predictAt from the scores and features of a batch, all of whose samples are of one task.
func (l *Learner) predictByRule(b *device.Batch, scores, features [][]float32, rule rehearsal.Rule) (predicted []int32) {
	lo, hi := l.heads.Competing(b.Task[0])
	classes := l.heads.Among(b.Task[0])
	outputs := make([]int, 0, len(classes))
	for o := lo; o < hi; o++ {
		outputs = append(outputs, int(o))
	}
	for i := range b.N {
		_, best, _ := compared(rule, scores[i], features[i], classes, outputs)
		predicted = append(predicted, lo+int32(best))
	}
	return predicted
}
