package pcl

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// LoadPredictor returns a predictor with a network that [Trained.Save] wrote, and whose model is one of package
// [github.com/parallelcl/parallelcl/pcl/model]; for others there is [NewPredictor]. It predicts up to 128 samples at a
// time.
func LoadPredictor(b *backend.Backend, path string) (*Predictor, error) {
	t, err := LoadTrained(path)
	if err != nil {
		return nil, err
	}
	m, err := model.ByKey(t.Model)
	if err != nil {
		return nil, fmt.Errorf("pcl: load predictor: %s: %w", path, err)
	}
	p, err := NewPredictor(b, m, t, 128)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	return p, nil
}

// NewPredictor returns a predictor with a trained network, whose model is m. It predicts up to batch samples at a time.
// It predicts what the network's learner predicts, up to the rounding of feature means to float32.
func NewPredictor(b *backend.Backend, m model.Model, t *Trained, batch int) (*Predictor, error) {
	p, err := newPredictor(b, m, t, batch)
	if err != nil {
		return nil, fmt.Errorf("pcl: new predictor: %w", err)
	}
	return p, nil
}

func newPredictor(b *backend.Backend, m model.Model, t *Trained, batch int) (*Predictor, error) {
	switch {
	case b == nil || m == nil:
		return nil, errors.New("it needs a backend and a model")
	case t == nil:
		return nil, errors.New("it needs a network: LoadTrained reads one from a file, Learner.Trained returns that of a learner")
	case batch < 1 || batch > MaxBatch:
		return nil, fmt.Errorf("batch size %d is outside 1…%d", batch, MaxBatch)
	case len(t.Tasks) == 0:
		return nil, errors.New("the network has no tasks, so that nothing is known of its outputs")
	case t.OtherRule:
		return nil, fmt.Errorf("method %s predicts by a rule of its own, which is not among what was saved", t.Method)
	case t.Increment.Validate() != nil:
		return nil, t.Increment.Validate()
	}
	theta, statistics, err := arrange(m.Layout(), t.Tensors, false)
	if err != nil {
		return nil, err
	}
	assigned, err := headsOf(t.Increment, t.Tasks, m.Outputs())
	if err != nil {
		return nil, err
	}
	rule, err := t.rule(m)
	if err != nil {
		return nil, err
	}
	programs := NewPrograms(b)
	defer programs.Close() // the kit holds them
	k, err := newKit(programs, graphs.Spec{Model: m, Shared: m.Layout().Total, Batch: batch, Optimizer: optim.SGD{LR: 1}},
		about{model: m, method: t.Method, image: t.Image, loss: t.Scores.loss()})
	if err != nil {
		return nil, err
	}
	p := &Predictor{kit: k, heads: assigned, paused: map[int]bool{}, rule: rule, steps: t.Steps, increment: t.Increment, loss: t.Loss, names: maps.Clone(t.Names)}
	for i, task := range t.Tasks {
		p.roll.skip(task.number(i) - 1)
		p.roll.add(Task{Name: task.Name, Classes: slices.Clone(task.Classes), ClassNames: slices.Clone(task.ClassNames)}, new(atomic.Int64))
		if !task.Ended {
			p.paused[p.roll.last()] = task.Paused
		}
	}
	p.theta, err = program.ToDevice(b.Backend, theta, len(theta))
	if err == nil && len(statistics) > 0 {
		p.statistics, err = program.ToDevice(b.Backend, statistics, len(statistics))
	}
	if err == nil {
		err = p.warm()
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// hasRule reports whether there are means that may compare classes: those for comparisons between tasks do not where each
// prediction is among the classes of one.
func (t *Trained) hasRule() bool {
	return t.Means != nil && !(t.Means.Between && t.Increment == scenario.TaskIncremental)
}

// rule returns what compares classes, if the logits do not.
func (t *Trained) rule(m model.Model) (rehearsal.Rule, error) {
	if !t.hasRule() {
		return nil, nil
	}
	if err := t.Means.Check(); err != nil {
		return nil, err
	}
	l := m.Layout()
	width := l.Params[l.Classifier()].Dims[0]
	for i, mean := range t.Means.Values {
		if len(mean) != width {
			return nil, fmt.Errorf("the mean of class %d has %d entries, the model %d features", t.Means.Classes[i], len(mean), width)
		}
		if !fp.Finite(mean) {
			return nil, fmt.Errorf("the mean of class %d has an entry that is not finite", t.Means.Classes[i])
		}
	}
	return t.Means.Rule(), nil
}
