package grid

import (
	"context"
	"errors"

	"github.com/parallelcl/parallelcl/pcl"
)

// ErrStop ends [Grid.Play] early, without an error.
var ErrStop = errors.New("grid: stop")

// Play makes the run of a configuration with a learner of its own, which is handed to the caller after each
// step: to measure, to draw, or to keep what no result file holds. No files are written. The parameters have
// the same bits as with pcl.Run. The learner is closed when Play returns.
func (g *Grid) Play(ctx context.Context, c pcl.Config, after func(*pcl.Learner, *pcl.StepReport) error) error {
	if err := g.open(ctx); err != nil {
		return err
	}
	s, err := pcl.NewScenario(c, g.set)
	if err != nil {
		return err
	}
	l, err := c.NewLearner(g.backend, g.programs, g.set, pcl.Outputs(s, g.set))
	if err != nil {
		return err
	}
	defer l.Close()
	for attached := 0; l.Steps() <= s.LastStep(); {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for ; attached < len(s.Tasks) && s.Tasks[attached].Start == l.Steps(); attached++ {
			t, err := c.NewTask(g.set, attached+1, s.Tasks[attached].Classes...)
			if err != nil {
				return err
			}
			if _, err := l.Attach(t); err != nil {
				return err
			}
		}
		r, err := l.Step()
		if err != nil {
			return err
		}
		if err := after(l, r); errors.Is(err, ErrStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Learner returns a learner of a configuration for the grid's data set, with an output for each of its
// classes and no task yet. The configuration's scenario is ignored.
func (g *Grid) Learner(ctx context.Context, c pcl.Config) (*pcl.Learner, error) {
	if err := g.open(ctx); err != nil {
		return nil, err
	}
	return c.NewLearner(g.backend, g.programs, g.set, len(g.set.Classes))
}

// Task returns the training and test images of some classes, ready to be attached to a learner of the
// configuration as its task id (from 1, by arrival).
func (g *Grid) Task(ctx context.Context, c pcl.Config, id int, classes ...int) (pcl.Task, error) {
	set, err := g.Dataset(ctx)
	if err != nil {
		return pcl.Task{}, err
	}
	return c.NewTask(set, id, classes...)
}
