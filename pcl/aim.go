package pcl

import (
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// aim sets what a batch should predict under a loss: the right output of each sample, the outputs that compete
// with it, and the reference values if the loss needs any.
func (l *Learner) aim(b *device.Batch, loss rehearsal.Loss) {
	l.target(b, loss)
	switch {
	case loss.Adjust > 0:
		b.Adjust(l.adjustments(loss.Adjust))
	case loss.Kind == rehearsal.StoredLogits, loss.Distill > 0: // the stored values stay
	case loss.Kind == rehearsal.Sigmoid, loss.Teacher > 0:
		l.teach(b, loss)
	}
}

// teach fills the batch's reference values with the scores that the remembered model has for a loss, for the outputs of
// the tasks that had ended when it was remembered. Other outputs get no reference, nor do those of classes that a running task
// has: these are learnt from its samples.
func (l *Learner) teach(b *device.Batch, loss rehearsal.Loss) {
	if l.others.remembered == nil {
		return
	}
	logits, _ := l.programs.Describe(l.at(l.others.remembered), b, loss)
	learnt := map[int]bool{}
	for _, t := range l.tasks {
		for _, o := range l.roll.outputs(t.id) {
			learnt[o] = true
		}
	}
	for i, old := range logits {
		for _, o := range l.others.taught {
			if !learnt[o] {
				b.Reference[i*l.options.Model.Outputs()+o] = old[o]
			}
		}
	}
}

// lossOf returns the loss of a row in this step. There is no teacher before the method has remembered one.
func (l *Learner) lossOf(id int) rehearsal.Loss {
	loss := l.options.lossOf(id)
	if l.others.remembered == nil {
		loss.Teacher, loss.Temperature = 0, 0
	}
	return loss
}
