package pcl

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Take says what [Learner.SetTrained] takes of a network. The zero value takes all of it.
type Take struct {
	// Backbone takes only the parameters before the classifier, and the statistics: a start from a network that knows
	// other classes. The classifier and the learner's tasks stay as they are.
	Backbone bool
}

// SetTrained gives the learner the parameters and statistics of a network. Their names and shapes must match the
// model's Layout; otherwise nothing changes, and the error names what is missing, unexpected or different. The optimiser
// starts anew.
//
// The network's outputs keep their meaning. A learner without tasks gets the network's, as ended tasks without samples in
// the memory: it can predict, [Learner.Reattach] them, and attach others. A learner that has tasks must have the same
// ones. If the model has more outputs than the network, the additional outputs keep their parameters; if it has fewer, it
// grows, if [Options].Grow is set.
//
// Copies of the parameters that the method had asked for are dropped; once a task has ended, iCaRL and LwF distil from the
// new parameters, and a penalty holds the learner to them, as firmly as before. The rule of prediction stays the method's:
// a method that predicts by means computes them from the memory, not from the network's.
func (l *Learner) SetTrained(t *Trained, take Take) error {
	if t == nil {
		panic("pcl: SetTrained needs a network: LoadTrained reads one from a file, Learner.Trained returns that of a learner")
	}
	return l.call(context.Background(), "set network", func() error {
		if take.Backbone {
			return l.setBackbone(t)
		}
		return l.setTrained(t)
	})
}

func (l *Learner) setBackbone(t *Trained) error {
	theta, err := l.parameters()
	if err != nil {
		return err
	}
	values, statistics, err := arrange(l.options.Model.Layout(), t.Tensors, true)
	if err != nil {
		return err
	}
	copy(theta, values)
	return l.exchange(theta, statistics)
}

func (l *Learner) setTrained(t *Trained) error {
	theta, err := l.parameters()
	if err != nil {
		return err
	}
	if err := l.fits(t); err != nil {
		return err
	}
	outputs, err := l.outputsOf(t)
	if err != nil {
		return err
	}
	narrow, err := l.narrowed(outputs)
	if err != nil {
		return err
	}
	values, statistics, err := arrange(narrow, t.Tensors, false)
	if err != nil {
		return err
	}
	if outputs > l.options.Model.Outputs() {
		theta, err = values, l.grow(outputs)
	} else {
		l.options.Model.Layout().Widen(theta, values, narrow)
	}
	if err != nil {
		return err
	}
	if err := l.exchange(theta, statistics); err != nil {
		return err
	}
	if err := l.adopt(t); err != nil {
		return err
	}
	return l.teacher()
}

// teacher makes the present network the old model of methods that hold on to one, if a task has ended.
func (l *Learner) teacher() error {
	loss := l.options.lossOf(1)
	if (loss.Kind == rehearsal.Sigmoid || loss.Teacher > 0) && len(l.ended().ids(l.roll)) > 0 {
		return lab{l: l}.Remember()
	}
	return nil
}

// fits returns an error if the network's tasks are not those of the learner, or its outputs were trained for another loss.
// Of a network without a model's key the loss is not known.
func (l *Learner) fits(t *Trained) error {
	if len(t.Tasks) == 0 {
		return nil
	}
	same := slices.EqualFunc(t.Tasks, l.Tasks(), func(a, b TaskInfo) bool { return slices.Equal(a.Classes, b.Classes) })
	loss := keyOf(l.options.compared())
	switch {
	case t.Increment != l.options.Increment:
		return fmt.Errorf("the network is %s-incremental, the learner %s-incremental: take only the backbone", t.Increment, l.options.Increment)
	case !l.roll.empty() && !same:
		return fmt.Errorf("the network has tasks of the classes %v, the learner of %v: take only the backbone, or use a learner without tasks", classLists(t.Tasks), classLists(l.Tasks()))
	case t.Model != "" && t.Loss != loss:
		return fmt.Errorf("the network was trained for the loss %q, the learner is for %q, where none is of classes: take only the backbone", t.Loss, loss)
	}
	return nil
}

func classLists(tasks []TaskInfo) (all [][]int) {
	for _, t := range tasks {
		all = append(all, t.Classes)
	}
	return all
}

// outputsOf returns how many outputs the network has, as its classifier's weights say, which must be enough for its
// tasks.
func (l *Learner) outputsOf(t *Trained) (int, error) {
	layout, has := l.options.Model.Layout(), l.options.Model.Outputs()
	outputs := has // if there is no such tensor, this is what will be missing
	for _, x := range t.Tensors {
		if x.Name == layout.Params[layout.Classifier()].Name && len(x.Dims) > 0 {
			outputs = x.Dims[len(x.Dims)-1]
		}
	}
	if _, _, err := t.arrived(outputs); err != nil {
		return 0, fmt.Errorf("the network has %d outputs: %w", outputs, err)
	}
	if outputs > has && !l.options.Grow {
		return 0, fmt.Errorf("the network has %d outputs, the model %d: build a model with as many, let it grow (Options.Grow), or take only the backbone", outputs, has)
	}
	return outputs, nil
}

// narrowed returns the layout of the model with another number of outputs.
func (l *Learner) narrowed(outputs int) (*model.Layout, error) {
	m := l.options.Model
	if outputs == m.Outputs() {
		return m.Layout(), nil
	}
	r, ok := m.(model.Resizer)
	if !ok {
		return nil, fmt.Errorf("the network has %d outputs, the model %d, and %s is not a model.Resizer", outputs, m.Outputs(), m.Key())
	}
	other, err := r.WithOutputs(outputs)
	if err != nil {
		return nil, err
	}
	return other.Layout(), nil
}

// adopt gives a learner without tasks those of a network, which have ended.
func (l *Learner) adopt(t *Trained) (err error) {
	if !l.roll.empty() || len(t.Tasks) == 0 {
		return nil
	}
	skipped := l.roll.last()
	if l.roll, l.heads, err = t.arrived(l.options.Model.Outputs()); err != nil {
		return err
	}
	l.skip(skipped)
	for id := 1; id <= l.roll.last(); id++ {
		l.count(id, 1)
	}
	return nil
}

// exchange replaces parameters and statistics, which have the right lengths. The optimiser starts anew.
func (l *Learner) exchange(theta, statistics []float32) error {
	l.version++
	l.prepared, l.network.updates = 0, 0
	l.others.free()
	copy(l.network.statistics, statistics)
	if l.failure = l.network.set(l.options.Backend, theta, nil, len(l.options.Optimizer.State())); l.failure == nil {
		l.failure = l.replaced()
	}
	return l.failure
}

// replaced tells a method that holds on to earlier parameters that there are others.
func (l *Learner) replaced() error {
	if a, ok := method.As[rehearsal.Penalty](l.options.Method); ok {
		return guarded(l.byMethod(), func() error { return a.Replaced(lab{l: l}) })
	}
	return nil
}
