package pcl

import (
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// aim sets what a batch should predict under a loss: the right output of each sample, the outputs that compete
// with it, and the reference values if the loss needs any.
func (l *Learner) aim(b *device.Batch, loss rehearsal.Loss) error {
	if err := l.target(b, loss); err != nil {
		return err
	}
	switch {
	case loss.Adjust > 0:
		adjust(b, l.adjustments(loss.Adjust))
	case loss.StoredLogits, loss.Distill > 0: // the stored values stay
	case loss.Sigmoid, loss.Teacher > 0:
		return l.teach(b, loss)
	}
	return nil
}

// target sets what a batch should predict under a loss: the right output of each sample, and the outputs that compete with it. A
// sample of a class that its task does not have, as test samples and methods of a user may name, is an error.
func (l *Learner) target(b *device.Batch, loss rehearsal.Loss) error {
	r := &l.roll
	return b.Aim(func(task, class int) (device.Target, error) {
		o, err := r.output(task, class)
		if err != nil {
			return device.Target{}, err
		}
		h := r.head(task)
		lo, hi := r.competing(task)
		switch {
		case loss.Own:
			lo, hi = h.from, h.to
		case loss.Seen:
			lo, hi = 0, r.used
		}
		return device.Target{Output: int32(o), Lo: int32(lo), Hi: int32(hi), TaskLo: int32(h.from), TaskHi: int32(h.to)}, nil
	}, loss, l.options.Model.Outputs())
}

// teach fills the batch's reference values with the scores that the remembered model has for a loss, for the outputs of
// the tasks that had ended when it was remembered. Other outputs get no reference, nor do those of classes that a running task
// has: these are learnt from its samples.
func (l *Learner) teach(b *device.Batch, loss rehearsal.Loss) error {
	if l.others.remembered == nil {
		return nil
	}
	logits, _, err := l.programs.Describe(l.at(l.others.remembered), b, loss)
	if err != nil {
		return err
	}
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
	return nil
}

// lossOf returns the loss of a row in this step. There is no teacher before the method has remembered one.
func (l *Learner) lossOf(id int) rehearsal.Loss {
	loss := lossOf(l.method, id)
	if l.others.remembered == nil {
		loss.Teacher, loss.Temperature = 0, 0
	}
	return loss
}
