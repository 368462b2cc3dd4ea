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
	if !l.options.Grow {
		return has, l.heads.Fits(classes)
	}
	needed, err := l.heads.Needed(classes)
	if err != nil || needed <= has {
		return has, err
	}
	return max(needed, 2*has), nil
}

// growth is a wider classifier that is ready to take the place of a learner's.
type growth struct {
	model      model.Model
	network    network
	remembered compute.Buffer
}

func (g *growth) free() {
	g.network.free()
	program.Free(g.remembered)
}

// grow gives the classifier more outputs. All parameters stay as they are; those of the new outputs are drawn. The
// optimiser remembers nothing of them. After an error nothing has changed.
func (l *Learner) grow(outputs int) error {
	g, err := l.widened(outputs)
	if err != nil {
		return err
	}
	return l.takeOn(g)
}

// widened makes everything that a wider classifier needs, its programs too, and changes nothing.
func (l *Learner) widened(outputs int) (g *growth, err error) {
	old := l.options.Model
	narrow, err := l.options.resizer()
	if err != nil {
		return nil, err
	}
	wide, err := narrow.WithOutputs(outputs)
	if err != nil {
		return nil, err
	}
	g = &growth{model: wide}
	defer func() {
		if err != nil {
			g.free()
		}
	}()
	widen := func(b compute.Buffer, values []float32) (compute.Buffer, error) {
		before := make([]float32, old.Layout().Total)
		if err := program.ToHost(before, b); err != nil {
			return nil, err
		}
		wide.Layout().Widen(values, before, old.Layout())
		return program.ToDevice(l.options.Backend, values, len(values))
	}
	total := wide.Layout().Total
	fresh := func() []float32 { return wide.Layout().Init(seed.New(l.options.Seed, "grow", outputs).Rand) }
	if g.network.theta, err = widen(l.network.theta, fresh()); err != nil {
		return nil, err
	}
	for _, b := range l.network.state {
		moment, err := widen(b, make([]float32, total))
		if err != nil {
			return nil, err
		}
		g.network.state = append(g.network.state, moment)
	}
	if l.others.remembered != nil {
		if g.remembered, err = widen(l.others.remembered, fresh()); err != nil {
			return nil, err
		}
	}
	return g, l.compiles(wide)
}

// takeOn puts a wider classifier in the place of the learner's.
func (l *Learner) takeOn(g *growth) error {
	if err := l.useModel(g.model); err != nil {
		g.free()
		return err
	}
	g.network.statistics, g.network.updates = l.network.statistics, l.network.updates
	l.network.free()
	l.network = g.network
	over, taught := l.others.over, l.others.taught
	l.others.free()
	l.others.remembered, l.others.over, l.others.taught = g.remembered, over, taught
	l.heads.Grow(g.model.Outputs())
	return nil
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
	l.prediction.renew()
	return nil
}

// compiles compiles what the learner would need if m were its model.
func (l *Learner) compiles(m model.Model) error {
	old := l.options.Model
	l.options.Model = m
	err := l.compile()
	l.options.Model = old
	return errors.Join(err, l.compile()) // what the old one needs is there
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
