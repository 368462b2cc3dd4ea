package pcl

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/internal/heads"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// Take says what [Learner.SetTrained] takes of a network. The zero value takes all of it.
type Take struct {
	// Backbone takes only the parameters before the classifier, and the statistics: a start from a network that knows
	// other classes. The classifier and the learner's tasks stay as they are.
	Backbone bool
	// KeepMoments keeps what the optimiser remembers of earlier gradients, and its count of updates. Otherwise it
	// starts anew, since they belong to other parameters.
	KeepMoments bool
}

// SetTrained gives the learner the parameters and statistics of a network. Their names and shapes must be those of the
// model's Layout; an error names what is missing, what is there in addition, and what differs, and nothing changes.
//
// The network's outputs keep their meaning. A learner without tasks gets those of the network, as tasks that have ended
// and of which nothing is in the memory, so that it can predict, [Learner.Reattach] them, and attach others. A learner
// that has tasks must have the same ones. If the model has more outputs than the network, the classifier's parameters of
// the others stay as they are; if it has fewer, it grows, if [Options].Grow is set.
//
// Copies of the parameters that the method had asked for are dropped; what iCaRL and LwF distil from becomes these, if a task
// has ended. A penalty that holds
// the parameters to earlier ones holds them to these, as firmly as before. The rule of prediction
// stays the method's: a method that predicts by means computes them from the memory, not from the network's.
func (l *Learner) SetTrained(t *Trained, take Take) error {
	if err := l.enter(false); err != nil {
		return err
	}
	defer l.leave()
	if err := l.setTrained(t, take); err != nil {
		return fmt.Errorf("pcl: set network: %w", err)
	}
	return nil
}

func (l *Learner) setTrained(t *Trained, take Take) error {
	if t == nil {
		return errors.New("there is none: LoadTrained reads one from a file, Learner.Trained returns that of a learner")
	}
	theta, err := l.parameters()
	if err != nil {
		return err
	}
	if take.Backbone {
		values, statistics, err := arrange(l.options.Model.Layout(), t.Tensors, true)
		if err != nil {
			return err
		}
		copy(theta[:l.options.Model.Layout().Backbone], values)
		return l.exchange(theta, statistics, take.KeepMoments)
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
	if has := l.options.Model.Outputs(); outputs > has {
		if err := l.grow(outputs); err != nil {
			return err
		}
		theta = values
	} else {
		l.options.Model.Layout().Widen(theta, values, narrow)
	}
	if err := l.exchange(theta, statistics, take.KeepMoments); err != nil {
		return err
	}
	if err := l.adopt(t); err != nil {
		return err
	}
	return l.teacher()
}

// teacher makes the present network the old model of methods that hold on to one, if a task has ended.
func (l *Learner) teacher() error {
	ended := len(l.ended().ids(l.roll)) > 0
	if loss := l.options.lossOf(1); ended && (loss.Kind == rehearsal.Sigmoid || loss.Teacher > 0) {
		return lab{l}.Remember()
	}
	return nil
}

// fits returns an error if the network's tasks are not those of the learner.
func (l *Learner) fits(t *Trained) error {
	if len(t.Tasks) == 0 {
		return nil
	}
	if t.Increment != l.options.Increment {
		return fmt.Errorf("the network is %s-incremental, the learner %s-incremental, so that their outputs differ: take only the backbone", t.Increment, l.options.Increment)
	}
	same := slices.EqualFunc(t.Tasks, l.Tasks(), func(a, b TaskInfo) bool { return slices.Equal(a.Classes, b.Classes) })
	if !l.roll.empty() && !same {
		return fmt.Errorf("the network has tasks of the classes %v, the learner of %v, so that their outputs differ: take only the backbone, or use a learner without tasks", classLists(t.Tasks), classLists(l.Tasks()))
	}
	return l.fitsLosses(t)
}

// fitsLosses returns an error if the network's outputs were trained for another loss, or tasks that would be adopted could
// not have been attached to the learner. Of a network without a model's key the loss is not known.
func (l *Learner) fitsLosses(t *Trained) error {
	if now := l.options.lossKey(); t.Model != "" && t.Loss != now {
		return fmt.Errorf("the network was trained for %s, the learner is for %s, so that their outputs differ: take only the backbone", lossName(t.Loss), lossName(now))
	}
	if l.options.Loss == nil || !l.roll.empty() {
		return nil
	}
	adopter := &Learner{options: l.options, heads: heads.New(l.options.Increment, 1<<30)}
	for i, task := range t.Tasks {
		err := adopter.fitsLoss(task.Classes)
		if err == nil {
			err = adopter.heads.Add(task.Classes)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", label(i+1, task.Name), err)
		}
	}
	return nil
}

func lossName(key string) string {
	if key == "" {
		return "the cross-entropy of classes"
	}
	return "loss " + key
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
	layout := l.options.Model.Layout()
	name := layout.Params[layout.Classifier()].Name
	has := l.options.Model.Outputs()
	outputs := has // if there is no such tensor, this is what will be missing
	for _, x := range t.Tensors {
		if x.Name == name && len(x.Dims) > 0 {
			outputs = x.Dims[len(x.Dims)-1]
		}
	}
	if _, err := headsOf(l.options.Increment, t.Tasks, outputs); err != nil {
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
		return nil, fmt.Errorf("the network has %d outputs, the model %d, and %s cannot be built with another number: it is no model.Resizer", outputs, m.Outputs(), m.Key())
	}
	other, err := r.WithOutputs(outputs)
	if err != nil {
		return nil, err
	}
	return other.Layout(), nil
}

// adopt gives a learner without tasks those of a network, which have ended.
func (l *Learner) adopt(t *Trained) error {
	if !l.roll.empty() {
		return nil
	}
	for i, info := range t.Tasks {
		l.skip(info.number(i) - 1)
		if err := l.heads.Add(info.Classes); err != nil {
			return fmt.Errorf("%s: %w", label(info.number(i), info.Name), err)
		}
		known := Task{Name: info.Name, Classes: slices.Clone(info.Classes), ClassNames: t.namesOf(info.Classes)}
		l.roll.add(known, new(atomic.Int64))
		l.count(l.roll.last(), 1)
	}
	return nil
}

// namesOf returns the names of classes, "" for one that has none; nil if none of them has one.
func (t *Trained) namesOf(classes []int) []string {
	names, any := make([]string, len(classes)), false
	for i, c := range classes {
		names[i] = t.Names[c]
		any = any || names[i] != ""
	}
	if !any {
		return nil
	}
	return names
}

// SetParameters replaces the parameters θ and the running statistics, which are as [Learner.Parameters] and
// [Learner.Statistics] return them. The optimiser starts anew, and copies of the parameters that the method had asked for,
// and penalties, are treated as in [Learner.SetTrained]. After an error about the values nothing has changed.
func (l *Learner) SetParameters(theta, statistics []float32) error {
	if err := l.enter(false); err != nil {
		return err
	}
	defer l.leave()
	layout := l.options.Model.Layout()
	switch {
	case len(theta) != layout.Total || len(statistics) != layout.StatsTotal:
		return fmt.Errorf("pcl: set parameters: %d parameters and %d statistics, the model has %d and %d", len(theta), len(statistics), layout.Total, layout.StatsTotal)
	case !fp.Finite(theta) || !fp.Finite(statistics):
		return errors.New("pcl: set parameters: a value is not finite")
	}
	if err := l.exchange(slices.Clone(theta), statistics, false); err != nil {
		return fmt.Errorf("pcl: set parameters: %w", err)
	}
	return nil
}

// exchange replaces parameters and statistics, which have the right lengths.
func (l *Learner) exchange(theta, statistics []float32, keepMoments bool) error {
	vectors := len(l.options.Optimizer.State())
	var moments [][]float32
	if keepMoments {
		for _, b := range l.network.state {
			values := make([]float32, len(theta))
			if err := program.ToHost(values, b); err != nil {
				return err
			}
			moments = append(moments, values)
		}
	} else {
		l.network.updates = 0
	}
	l.version++
	l.prepared = 0
	l.others.free()
	copy(l.network.statistics, statistics)
	if l.failure = l.network.set(l.options.Backend, theta, moments, vectors); l.failure == nil {
		l.failure = l.replaced()
	}
	return l.failure
}

// replaced tells a method that holds on to earlier parameters that there are others.
func (l *Learner) replaced() error {
	if a, ok := method.As[rehearsal.Penalty](l.options.Method); ok {
		return guarded(l.byMethod(), func() error { return a.Replaced(penalising{lab{l}}) })
	}
	return nil
}

// arrange puts tensors into the flat vectors of a layout. For the backbone alone it ignores those of the classifier, and
// leaves the classifier's part of theta out.
func arrange(l *model.Layout, all []safetensors.Tensor, backbone bool) (theta, statistics []float32, err error) {
	given := map[string]*safetensors.Tensor{}
	for i := range all {
		given[all[i].Name] = &all[i]
	}
	params, total := l.Params, l.Total // the latter is used only once the tensors are known to have as many entries
	if backbone {
		at := l.Classifier()
		for _, p := range params[at:] {
			delete(given, p.Name)
		}
		params, total = params[:at], l.Backbone
	}
	if err := compare(params, l.Stats, given); err != nil {
		return nil, nil, err
	}
	return join(params, total, given), join(l.Stats, l.StatsTotal, given), nil
}

// compare returns an error if the tensors are not the given parameters and statistics. It makes no vectors: a file of a
// few bytes may name a model of any size.
func compare(params, stats []model.Param, given map[string]*safetensors.Tensor) error {
	var d differences
	rest := maps.Clone(given)
	for _, p := range slices.Concat(params, stats) {
		p.Offset = 0 // in a vector without entries, which nothing is copied to
		d.fill(nil, []model.Param{p}, rest)
	}
	for name := range rest {
		d.extra = append(d.extra, name)
	}
	return d.err()
}

// join puts the tensors of parameters into a flat vector.
func join(params []model.Param, total int, given map[string]*safetensors.Tensor) []float32 {
	flat := make([]float32, total)
	for _, p := range params {
		copy(flat[p.Offset:], given[p.Name].Values)
	}
	return flat
}
