package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// A method may add a row to a step that has no batch: the gradient of a penalty on the parameters.
// The rule sees it as it sees the memory's rows. It is computed on the host.

// penaltyRow returns the row of the method's penalty, if there is one in this step.
func (s *step) penaltyRow() ([]row, error) {
	r := row{id: rehearsal.PenaltyID}
	if err := s.penalise(&r); err != nil {
		return nil, err
	}
	if r.Flat == nil {
		return nil, nil
	}
	return []row{r}, nil
}

// penalise computes the row of the penalty at the present parameters. Without a penalty the row
// stays empty.
func (s *step) penalise(r *row) error {
	value, gradient, err := s.penalty()
	if err != nil {
		return err
	}
	if gradient == nil {
		return nil
	}
	if len(gradient) != s.network.programs.Shared {
		return fmt.Errorf("%s has a penalty on %d parameters, %d are shared",
			byMethod(s.method), len(gradient), s.network.programs.Shared)
	}
	if len(s.scratch.penalty) != s.network.total() {
		s.scratch.penalty = make([]float32, s.network.total())
	}
	flat := s.scratch.penalty
	copy(flat, gradient)
	if r.Row, err = s.network.programs.Given(value, flat); err != nil {
		return err
	}
	r.observed = true // there are no statistics
	return nil
}

// penaliseAgain computes the row of the penalty, if there is one, after it was freed.
func (s *step) penaliseAgain() error {
	for i := range s.rows {
		if r := &s.rows[i]; r.Batch == nil {
			if err := s.penalise(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// penalty returns the penalty at the present parameters and its gradient, or no gradient if there
// is none.
func (s *step) penalty() (value float64, gradient []float32, err error) {
	if p := s.method.Penalty; p != nil {
		return p.Penalise(s.context())
	}
	return 0, nil, nil
}

// moved reports an update of the parameters to the method's penalty, if it has one.
func (s *step) moved() error {
	if m := s.method.Penalty; m != nil {
		return m.AfterUpdate(s.context(), s.meanOfTasks)
	}
	return nil
}

func (c methodContext) Parameters() ([]float32, error) {
	theta, err := c.network.read(c.network.theta)
	if err != nil {
		return nil, err
	}
	n := c.network.programs.Shared
	return theta[:n:n], nil
}

// TaskGradient uses the right labels as targets, even if the loss has the old model's. That model
// was remembered when the task ended and agrees with the present one, so its targets give no
// gradient.
func (c methodContext) TaskGradient(samples []memory.Item) (out []float32, err error) {
	c.fits(samples)
	loss := lossOf(c.method, samples[0].Task)
	loss.Teacher, loss.Temperature, loss.Adjust = 0, 0, 0
	err = c.batches(samples, loss, func(h *device.Batch) (err error) {
		if loss.Sigmoid {
			blank := loss
			blank.Distill = 0
			if err := c.targets.outputs(h, blank); err != nil {
				return err
			}
		}
		own := device.At{Theta: c.network.theta} // normalised with the batch's own statistics
		out, err = c.sharedGradient(own, h, loss)
		return err
	})
	return out, err
}

// meanOfTasks returns the mean of the tasks' gradients over the shared parameters, without rows
// that took no part in the update.
func (s *step) meanOfTasks() ([]float32, error) {
	s.scratch.mean = fp.Grow(s.scratch.mean, s.network.programs.Shared)
	mean := s.scratch.mean
	clear(mean)
	n := float32(0)
	for _, i := range s.kept {
		if s.rows[i].id <= method.MemoryID {
			continue
		}
		g, err := s.network.read(s.rows[i].Flat)
		if err != nil {
			return nil, err
		}
		for p, x := range g[:len(mean)] {
			mean[p] += x
		}
		n++
	}
	if n > 1 {
		for p := range mean {
			mean[p] /= n
		}
	}
	return mean, nil
}
