package pcl

import (
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// targets sets what batches should predict. It only reads the learner's parts.
type targets struct {
	options *Options
	method  *method.Started
	network *network
	tasks   *tasks
	memory  *memory.Store
}

// set sets what a batch should predict under a loss: the right output of each sample, the outputs
// that compete with it, and the reference values if the loss needs any.
func (t targets) set(b *device.Batch, loss rehearsal.Loss) error {
	if err := t.outputs(b, loss); err != nil {
		return err
	}
	switch {
	case loss.Adjust > 0:
		adjust(b, t.adjustments(loss.Adjust))
	case loss.StoredLogits, loss.Distill > 0: // the stored values stay
	case loss.Sigmoid, loss.Teacher > 0:
		return t.teach(b, loss)
	}
	return nil
}

// outputs sets the right output of each sample, and the outputs that compete with it. A sample of a
// class that its task does not have, as test samples and methods of a user may name, is an error.
func (t targets) outputs(b *device.Batch, loss rehearsal.Loss) error {
	r := &t.tasks.registry
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
		return device.Target{
			Output: int32(o), Lo: int32(lo), Hi: int32(hi), TaskLo: int32(h.from), TaskHi: int32(h.to),
		}, nil
	}, loss, t.options.Model.Outputs())
}

// teach fills a batch's reference values with the remembered model's scores, for the outputs of the
// tasks that had ended when it was remembered. Outputs of running tasks get none: these are learnt
// from samples.
func (t targets) teach(b *device.Batch, loss rehearsal.Loss) error {
	teacher := &t.network.auxiliary
	if teacher.remembered == nil {
		return nil
	}
	logits, _, err := t.network.programs.Describe(t.network.at(teacher.remembered), b, loss)
	if err != nil {
		return err
	}
	learnt := map[int]bool{}
	for _, task := range t.tasks.running {
		for _, o := range t.tasks.registry.outputs(task.id) {
			learnt[o] = true
		}
	}
	for i, old := range logits {
		for _, o := range teacher.taught {
			if !learnt[o] {
				b.Reference[i*t.options.Model.Outputs()+o] = old[o]
			}
		}
	}
	return nil
}

// lossOf returns the loss of a row in this step. There is no teacher before the method has
// remembered one.
func (t targets) lossOf(id int) rehearsal.Loss {
	loss := lossOf(t.method, id)
	if t.network.auxiliary.remembered == nil {
		loss.Teacher, loss.Temperature = 0, 0
	}
	return loss
}
