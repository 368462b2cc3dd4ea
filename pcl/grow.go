package pcl

import (
	"fmt"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
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
	_, err = l.resizer()
	return max(needed, 2*has), err
}

// grow gives the classifier more outputs. All parameters stay as they are; those of the new outputs are drawn. The
// optimiser remembers nothing of them. After an error nothing has changed.
func (l *Learner) grow(outputs int) (err error) {
	old := l.options.Model
	narrow, err := l.resizer()
	if err != nil {
		return err
	}
	wide, err := narrow.WithOutputs(outputs)
	if err != nil {
		return err
	}
	var made []compute.Buffer
	defer func() {
		if err != nil {
			program.Free(made...)
			l.options.Model = old
			l.compile() // what it needs is there
		}
	}()
	widened := func(b compute.Buffer, values []float32) (compute.Buffer, error) {
		before := make([]float32, old.Layout().Total)
		if err := program.ToHost(before, b); err != nil {
			return nil, err
		}
		wide.Layout().Widen(values, before, old.Layout())
		out, err := program.ToDevice(l.options.Backend, values, len(values))
		made = append(made, out)
		return out, err
	}
	total := wide.Layout().Total
	fresh := func() []float32 { return wide.Layout().Init(seed.New(l.options.Seed, "grow", outputs).Rand) }
	next := network{statistics: l.network.statistics, updates: l.network.updates}
	if next.theta, err = widened(l.network.theta, fresh()); err != nil {
		return err
	}
	for _, b := range l.network.state {
		moment, err := widened(b, make([]float32, total))
		if err != nil {
			return err
		}
		next.state = append(next.state, moment)
	}
	var remembered compute.Buffer
	if l.others.remembered != nil {
		if remembered, err = widened(l.others.remembered, fresh()); err != nil {
			return err
		}
	}
	l.options.Model = wide
	if err := l.compile(); err != nil {
		return err
	}
	l.network.free()
	l.network = next
	over := l.others.over
	l.others.free()
	l.others.remembered, l.others.over = remembered, over
	l.heads.Grow(outputs)
	l.penalised, l.mean, l.prepared = nil, nil, 0
	l.prediction.renew()
	return nil
}

// resizer returns the model as one that can grow, or an error if it cannot, or if the method keeps something whose size
// would change.
func (l *Learner) resizer() (model.Resizer, error) {
	narrow, ok := l.options.Model.(model.Resizer)
	if !ok {
		return nil, fmt.Errorf("model %s cannot grow: it is no model.Resizer", l.options.Model.Key())
	}
	if l.options.InJ() == l.options.Model.Layout().Backbone {
		return narrow, nil // what methods keep is about the backbone
	}
	_, penalty := method.As[rehearsal.Penalty](l.options.Method)
	_, stateful := method.As[method.Stateful](l.options.Method)
	if penalty || stateful && l.options.Method.Info().NeedsRows {
		return nil, fmt.Errorf("the outputs cannot grow, since %s keeps vectors over the parameters of the classifier: build a model with more outputs, or set Options.Shared to %q", l.byMethod(), Backbone)
	}
	return narrow, nil
}
