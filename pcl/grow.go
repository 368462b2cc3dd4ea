package pcl

import (
	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// growFor makes sure that the classifier has the outputs of a new task. If [Options].Grow is set,
// it grows to at least twice as many as before, since each growth compiles all programs anew.
func (l *Learner) growFor(h head) error {
	has := l.options.Model.Outputs()
	if !l.options.Grow || h.hi <= has {
		return checkOutputs(has, h.hi)
	}
	m, err := l.options.Model.(model.Resizer).WithOutputs(max(h.hi, 2*has))
	if err != nil {
		return err
	}
	wide, err := l.network.widened(m)
	if err != nil {
		return err
	}
	if err := l.network.useModel(m, lossOf(l.method, method.MemoryID)); err != nil {
		return err
	}
	l.prediction.outdate()
	return l.turns.attempt("growing", func() error { return l.network.replace(wide) })
}

// vectors are the parameters of a network, on the host.
type vectors struct {
	theta      []float32
	state      [][]float32
	remembered []float32 // nil if nothing is remembered
}

// widened returns the parameters for a model with more outputs. All stay as they are; the
// parameters of the new outputs are drawn, and the optimiser remembers nothing of them.
func (n *network) widened(m model.Model) (v vectors, err error) {
	layout, old := m.Layout(), n.layout()
	from := func(b compute.Buffer, fresh []float32) ([]float32, error) {
		narrow, err := n.read(b)
		if err != nil {
			return nil, err
		}
		widen(fresh, narrow, layout, old)
		return fresh, nil
	}
	drawn := func() []float32 {
		fresh, _ := layout.Init(seed.New(n.options.Seed, "grow", m.Outputs()).Rand)
		return fresh
	}
	if v.theta, err = from(n.theta, drawn()); err != nil {
		return vectors{}, err
	}
	for _, b := range n.state {
		values, err := from(b, make([]float32, layout.Total))
		if err != nil {
			return vectors{}, err
		}
		v.state = append(v.state, values)
	}
	if b := n.auxiliary.remembered; b != nil {
		if v.remembered, err = from(b, drawn()); err != nil {
			return vectors{}, err
		}
	}
	return v, nil
}

// replace sets the parameters of another layout. Of the auxiliary ones only those remembered stay.
func (n *network) replace(v vectors) error {
	if err := n.set(v.theta, v.state); err != nil {
		return err
	}
	if v.remembered == nil {
		return nil
	}
	ended, taught := n.auxiliary.ended, n.auxiliary.taught
	n.auxiliary.free()
	return n.auxiliary.remember(n.options.Backend, v.remembered, ended, taught)
}

// widen copies the entries of a flat vector of one layout to their places in that of another one,
// which has more outputs. It leaves the entries of the new outputs as they are.
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
