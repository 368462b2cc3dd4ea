package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// A method may add a row to a step that has no batch: the gradient of a penalty on the parameters. The rule sees it as
// it sees the memory's rows. It is computed on the host.

// moving is the lab of a method that follows the parameters, after an update.
type moving struct{ lab }

// penaltyRow returns the row of the method's penalty, if there is one in this step.
func (s *step) penaltyRow() ([]row, error) {
	r := row{id: rehearsal.PenaltyRow}
	if err := s.penalise(&r); err != nil || r.Flat == nil {
		r.free()
		return nil, err
	}
	return []row{r}, nil
}

// penalise computes the row of the penalty at the present parameters. Without a penalty the row stays empty.
func (s *step) penalise(r *row) error {
	value, gradient, err := s.penalty()
	if err != nil || gradient == nil {
		return err
	}
	if n := s.programs.Shared; len(gradient) != n {
		return fmt.Errorf("method %s has a penalty on %d parameters, %d are shared", s.options.Method.Info().Name, len(gradient), n)
	}
	if s.penalised == nil {
		s.penalised = make([]float32, s.programs.Total())
	}
	flat := s.penalised
	copy(flat, gradient)
	if r.Gradient, err = device.Given(s.programs, value, flat); err != nil {
		return err
	}
	r.observed = true // there are no statistics
	if s.options.Method.Info().NeedsCross {
		for h := range r.halves { // without samples, both halves are the whole
			if r.halves[h], err = program.ToDevice(s.options.Backend, flat, len(flat)); err != nil {
				return err
			}
		}
	}
	return nil
}

// penaliseAgain computes the row of the penalty, if there is one, after it was freed.
func (s *step) penaliseAgain() error {
	for i := range s.rows {
		if r := &s.rows[i]; r.batch == nil {
			return s.penalise(r)
		}
	}
	return nil
}

// penalty returns the penalty at the present parameters and its gradient, or no gradient if there is none.
func (s *step) penalty() (value float64, gradient []float32, err error) {
	if p, ok := method.As[rehearsal.Penalty](s.options.Method); ok {
		return p.Penalise(lab{l: s.Learner})
	}
	return 0, nil, nil
}

// moved tells a method that follows the parameters of an update.
func (s *step) moved() error {
	if m, ok := method.As[rehearsal.Penalty](s.options.Method); ok {
		return m.Moved(moving{lab{s.Learner, s}})
	}
	return nil
}

// consolidate lets a method learn what it wants to keep of a task that has ended, from as many samples of each class as
// it asks for: the reservoir may have more, for the memory.
func (l *Learner) consolidate(t *attached) error {
	if c, ok := method.As[rehearsal.Penalty](l.options.Method); ok {
		return c.Consolidate(lab{l: l}, t.id, t.reservoir.Some(c.Samples()))
	}
	return nil
}

func (b lab) Parameters() ([]float32, error) {
	theta, err := device.Host(b.l.network.theta, b.l.programs.Total())
	if err != nil {
		return nil, err
	}
	return theta[:b.l.programs.Shared:b.l.programs.Shared], nil
}

// TaskGradient takes the right labels for targets, also where a loss has those of the old model: this was remembered when
// the task ended, and so agrees with the present one, which would leave no gradient.
func (b lab) TaskGradient(samples []memory.Item) (out []float32, err error) {
	b.fits(samples)
	loss := b.l.options.lossOf(samples[0].Task)
	loss.Teacher, loss.Temperature, loss.Adjust = 0, 0, 0
	err = b.batches(samples, loss, func(h *device.Batch) error {
		if loss.Kind == rehearsal.Sigmoid {
			h.Blank(b.l.options.Model.Outputs())
		}
		out, err = b.sharedGradient(b.l.network.theta, h, loss)
		return err
	})
	return out, err
}

// Current leaves out the rows that took no part in the update.
func (b moving) Current() ([]float32, error) {
	l := b.l
	l.mean = fp.Grow(l.mean, l.programs.Shared)
	clear(l.mean)
	n := float32(0)
	for _, i := range b.s.kept {
		if b.s.rows[i].id <= method.Memory {
			continue
		}
		flat, err := device.Host(b.s.rows[i].Flat, l.programs.Total())
		if err != nil {
			return nil, err
		}
		for p := range l.mean {
			l.mean[p] += flat[p]
		}
		n++
	}
	if n > 1 {
		for p := range l.mean {
			l.mean[p] /= n
		}
	}
	return l.mean, nil
}
