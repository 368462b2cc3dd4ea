package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// aimAll sets, for each row, what its batch should predict.
func (s *step) aimAll() error {
	for _, r := range s.rows {
		if err := s.aim(r.batch, r.loss); err != nil {
			return err
		}
	}
	return nil
}

// aim sets what a batch should predict under a loss: the right output of each sample, the outputs that compete
// with it, and the reference values if the loss needs any.
func (l *Learner) aim(b *device.Batch, loss rehearsal.Loss) error {
	if err := b.Aim(l.heads, loss); err != nil {
		return err
	}
	switch {
	case loss.Adjust > 0:
		b.Adjust(l.adjustments(loss.Adjust))
	case loss.Kind == rehearsal.StoredLogits, loss.Distill > 0:
		b.Refer(l.options.Model.Outputs())
	case loss.Kind == rehearsal.Sigmoid, loss.Teacher > 0:
		return l.teach(b, loss)
	}
	return nil
}

// lossOf returns the loss of a row in this step. There is no teacher before the method has remembered one.
func (l *Learner) lossOf(id int) rehearsal.Loss {
	loss := l.options.lossOf(id)
	if l.others.remembered == nil {
		loss.Teacher, loss.Temperature = 0, 0
	}
	return loss
}

// fitsMethod returns an error if the method could not be trained on a task, or on its samples in the memory. together says
// whether the task's outputs lie together, with none of another task's among them.
func (l *Learner) fitsMethod(task int, together bool) error {
	for _, id := range []int{task, method.Memory} {
		loss := l.options.lossOf(id)
		if together || !loss.Own && loss.TaskMargin == 0 {
			continue
		}
		does, instead := "sets a margin around each task", "set its task margin to 0"
		if loss.Own {
			does, instead = "lets only the classes of a row's own task compete", "use it for tasks that have no class in common, or leave it out"
		}
		return fmt.Errorf("%s %s, but its outputs lie among those of others, since they share classes: %s", l.byMethod(), does, instead)
	}
	return nil
}
