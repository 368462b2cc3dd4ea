package pcl

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// outputsFor returns how many outputs the classifier has to have for a new task with these classes, or an error if the
// task cannot be given any. If it has to grow, which it may if [Options].Grow is set, it gets at least twice as many as
// before, since each growth compiles all programs anew.
func (l *Learner) outputsFor(classes []int) (int, error) {
	has := l.options.Model.Outputs()
	if err := l.fitsLoss(classes); err != nil {
		return 0, err
	}
	needed, err := l.heads.Needed(classes)
	switch {
	case err != nil || needed <= has:
		return has, err
	case !l.options.Grow:
		return 0, tooFew(needed, has)
	}
	return max(needed, 2*has), nil
}

func tooFew(needed, has int) error {
	return fmt.Errorf("the tasks need %d outputs, the model has %d: build a model with more, or let it grow (Options.Grow)", needed, has)
}

// grow gives the classifier more outputs. All parameters stay as they are; those of the new outputs are drawn. The
// optimiser remembers nothing of them. After an error nothing has changed.
func (l *Learner) grow(outputs int) error {
	old := l.options.Model.Layout()
	narrow, err := l.options.resizer()
	if err != nil {
		return err
	}
	wide, err := narrow.WithOutputs(outputs)
	if err != nil {
		return err
	}
	layout := wide.Layout()
	fresh := func() []float32 { return layout.Init(seed.New(l.options.Seed, "grow", outputs).Rand) }
	vectors := append([]compute.Buffer{l.network.theta, l.others.remembered}, l.network.state...)
	values := [][]float32{fresh(), fresh()}
	for range l.network.state {
		values = append(values, make([]float32, layout.Total))
	}
	for i, b := range vectors {
		if b == nil { // nothing is remembered
			continue
		}
		before, err := program.Values[float32](b, old.Total)
		if err != nil {
			return err
		}
		layout.Widen(values[i], before, old)
	}
	if err := l.useModel(wide); err != nil {
		return err
	}
	err = l.network.set(l.options.Backend, values[0], values[2:], len(values)-2)
	if o := &l.others; err == nil && o.remembered != nil {
		over, taught := o.over, o.taught
		o.free()
		err = o.remember(l.options.Backend, values[1], over, taught)
	}
	l.failure = err // the device has no room for the new parameters
	return err
}

// useModel makes a model with another number of outputs the learner's, for a caller that replaces the parameters. After an
// error nothing has changed.
func (l *Learner) useModel(m model.Model) error {
	if m.Outputs() == l.options.Model.Outputs() {
		return nil
	}
	old := l.options.Model
	l.options.Model = m
	if err := l.compile(); err != nil {
		l.options.Model = old
		return errors.Join(err, l.compile()) // what the old one needs is there
	}
	l.penalised, l.mean, l.prepared = nil, nil, 0
	l.prediction.kit = nil
	return nil
}

// fitsLoss returns an error if a new task with these classes does not have one output for each target value.
func (l *Learner) fitsLoss(classes []int) error {
	loss := l.options.compared()
	switch {
	case loss == nil:
		return nil
	case len(classes) != loss.Targets():
		return fmt.Errorf("it has %d classes; with loss %s, classes name the outputs: want %d", len(classes), loss.Key(), loss.Targets())
	case !l.heads.Adjacent(classes):
		return fmt.Errorf("some of its classes %v belong to other tasks, and some do not: with loss %s a task has outputs of its own, or all outputs of another task in the same order", classes, loss.Key())
	}
	return nil
}
