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

// look runs a program that only looks at a batch and does not train, and so normalises with the running statistics. The batch's
// targets must have been set. more are inputs between θ and the batch.
func (l *Learner) look(p *program.Program, theta compute.Buffer, b *device.Batch, reference bool, more ...compute.Buffer) ([]compute.Buffer, error) {
	return l.execute(p, theta, b, reference, l.statisticsOf(theta), more)
}

// execute runs a program on a batch. running are the statistics to normalise with; nil stands for the batch's own.
func (l *Learner) execute(p *program.Program, theta compute.Buffer, b *device.Batch, reference bool, running []float32, more []compute.Buffer) ([]compute.Buffer, error) {
	in, done, err := b.Inputs(l.options.Backend, reference)
	if err != nil {
		return nil, err
	}
	defer done()
	if running != nil {
		s, err := program.ToDevice(l.options.Backend, running, len(running))
		if err != nil {
			return nil, err
		}
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

// lossesAt returns the loss of each sample of a batch whose targets have been set.
func (l *Learner) lossesAt(theta compute.Buffer, b *device.Batch, loss rehearsal.Loss) ([]float64, error) {
	p, err := l.programs.Losses(loss)
	if err != nil {
		return nil, err
	}
	out, err := l.look(p, theta, b, graphs.Referenced(loss))
	if err != nil {
		return nil, err
	}
	defer program.Free(out...)
	values, err := program.Values[float32](out[0], len(b.Class))
	each := make([]float64, b.N)
	for i := range each {
		each[i] = float64(values[i])
	}
	return each, err
}

// gradientAlone returns the gradient at θ, and over all parameters, of the mean loss of a batch that is normalised with the
// running statistics. It must be freed.
func (l *Learner) gradientAlone(theta compute.Buffer, b *device.Batch, loss rehearsal.Loss) (compute.Buffer, error) {
	p, err := l.programs.GradientAlone(loss)
	if err != nil {
		return nil, err
	}
	out, err := l.look(p, theta, b, graphs.Referenced(loss))
	if err != nil {
		return nil, err
	}
	program.Free(out[1:]...)
	return out[0], nil
}

// describeAt returns the scores and the features of each sample of a batch.
func (l *Learner) describeAt(theta compute.Buffer, b *device.Batch, loss rehearsal.Loss) (scores, features [][]float32, err error) {
	p, err := l.programs.Describe(loss)
	if err != nil {
		return nil, nil, err
	}
	out, err := l.look(p, theta, b, false)
	if err != nil {
		return nil, nil, err
	}
	defer program.Free(out...)
	if scores, err = device.Matrix(out[0], b.N); err != nil {
		return nil, nil, err
	}
	features, err = device.Matrix(out[1], b.N)
	return scores, features, err
}

// teach fills the batch's reference values with the scores that the remembered model has for a loss, for the outputs of
// the tasks that had ended when it was remembered. Other outputs get no reference, nor do those of classes that a running task
// has: these are learnt from its samples.
func (l *Learner) teach(b *device.Batch, loss rehearsal.Loss) error {
	outputs := l.options.Model.Outputs()
	if b.Blank(outputs); l.others.remembered == nil {
		return nil
	}
	logits, _, err := l.describeAt(l.others.remembered, b, loss)
	if err != nil {
		return err
	}
	learnt := map[int]bool{}
	for _, t := range l.tasks {
		for _, o := range l.heads.Of(t.id) {
			learnt[o] = true
		}
	}
	for i, old := range logits {
		for _, o := range l.others.taught {
			if !learnt[o] {
				b.Reference[i*outputs+o] = old[o]
			}
		}
	}
	return nil
}

// predictAt returns the output that is predicted for each sample of a batch. It sets the batch's targets itself, so that the
// outputs that compete are those of prediction, not those of training. theta and the batch are on the client of the set; running
// are the statistics that belong to theta.
func (l *Learner) predictAt(set *graphs.Set, theta compute.Buffer, running []float32, b *device.Batch, rule rehearsal.Rule) ([]int32, error) {
	if err := b.Aim(l.heads, rehearsal.Loss{}); err != nil {
		return nil, err
	}
	build := set.Predict
	if rule != nil {
		build = set.Describe
	}
	p, err := build(l.options.lossOf(method.Memory))
	if err != nil {
		return nil, err
	}
	out, err := l.execute(p, theta, b, false, running, nil)
	if err != nil {
		return nil, err
	}
	defer program.Free(out...)
	if rule != nil {
		return l.predictByRule(b, out, rule)
	}
	predicted, err := program.Values[int32](out[0], len(b.Class))
	return predicted[:b.N], err
}

// predictByRule is predictAt from the scores and features of a batch, all of whose samples are of one task.
func (l *Learner) predictByRule(b *device.Batch, described []compute.Buffer, rule rehearsal.Rule) (predicted []int32, err error) {
	var rows [2][][]float32
	for i := range rows {
		if rows[i], err = device.Matrix(described[i], b.N); err != nil {
			return nil, err
		}
	}
	lo, hi := l.heads.Competing(b.Task[0])
	classes := l.heads.Among(b.Task[0])
	outputs := make([]int, 0, len(classes))
	for o := lo; o < hi; o++ {
		outputs = append(outputs, int(o))
	}
	for i := range b.N {
		_, best, _ := compared(rule, rows[0][i], rows[1][i], classes, outputs)
		predicted = append(predicted, lo+int32(best))
	}
	return predicted, nil
}
