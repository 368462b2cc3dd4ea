package pcl

import (
	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// growFor makes sure that the classifier has the outputs of a new task. If it has to grow, which it may if [Options].Grow is set,
// it gets at least twice as many as before, since each growth compiles all programs anew.
func (l *Learner) growFor(h head) error {
	has := l.options.Model.Outputs()
	if l.options.Grow && h.hi > has {
		return l.grow(max(h.hi, 2*has))
	}
	return suffice(has, h.hi)
}

// grow gives the classifier more outputs. All parameters stay as they are; those of the new outputs are drawn. The
// optimiser remembers nothing of them. If there is no room for the programs, nothing has changed; if there is none for the
// parameters, the learner stops.
func (l *Learner) grow(outputs int) error {
	old := l.options.Model.Layout()
	wide, err := l.options.Model.(model.Resizer).WithOutputs(outputs)
	if err != nil {
		return err
	}
	layout := wide.Layout()
	widened := func(b compute.Buffer, fresh []float32) ([]float32, error) {
		narrow, err := program.Read[float32](b, old.Total)
		if err != nil {
			return nil, err
		}
		widen(fresh, narrow, layout, old)
		return fresh, nil
	}
	drawn := func() []float32 {
		fresh, _ := layout.Init(seed.New(l.options.Seed, "grow", outputs).Rand)
		return fresh
	}
	n, o := &l.network, &l.others
	theta, err := widened(n.theta, drawn())
	if err != nil {
		return err
	}
	var state [][]float32
	for _, b := range n.state {
		values, err := widened(b, make([]float32, layout.Total))
		if err != nil {
			return err
		}
		state = append(state, values)
	}
	var remembered []float32
	if o.remembered != nil {
		if remembered, err = widened(o.remembered, drawn()); err != nil {
			return err
		}
	}
	if err := l.useModel(wide); err != nil {
		return err
	}
	return l.wholly("growing", func() error {
		if err := n.set(l.options.Backend, theta, state); err != nil {
			return err
		}
		if remembered == nil {
			return nil
		}
		over, taught := o.over, o.taught
		o.free()
		return o.remember(l.options.Backend, remembered, over, taught)
	})
}

// useModel makes a model with another number of outputs the learner's, for a caller that replaces the parameters. If it fails,
// nothing has changed.
func (l *Learner) useModel(m model.Model) error {
	old := l.options.Model
	if m.Outputs() == old.Outputs() {
		return nil
	}
	l.options.Model = m
	if err := l.compile(); err != nil {
		l.options.Model = old
		return err
	}
	l.penalised, l.mean, l.prepared = nil, nil, 0
	return nil
}

// widen copies the entries of a flat vector of one layout to their places in that of another one, which has more outputs. It
// leaves the entries of the new outputs as they are.
func widen(wide, narrow []float32, layout, old *model.Layout) {
	copy(wide[:layout.Backbone], narrow[:old.Backbone])
	for i := layout.Classifier; i < len(layout.Params); i++ {
		p, q := layout.Params[i], old.Params[i]
		to, n := p.Dims[len(p.Dims)-1], q.Dims[len(q.Dims)-1]
		for row := range q.Size() / n {
			copy(wide[p.Offset+row*to:], narrow[q.Offset+row*n:q.Offset+(row+1)*n])
		}
	}
}
