package pcl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// Load restores what [Learner.Save] wrote, so that training continues as if it had never stopped.
// The learner must have been made with the same Options; parameters of the method are compared only
// where its state depends on them. The learning rate, the batch size, the budget of the memory,
// editing, augmentation and the seed may differ, and the new ones apply. Batches already fetched
// from running streams must fit into the new batch size. A smaller budget thins out the memory at
// once; a task that was running adds no more samples than the old budget allowed.
//
// Load calls attach with the id of each task that had arrived ([State.Tasks] lists them), and sets
// the position of the stream of the task that attach returns. A [data.PushStream] must be new: one
// that still holds samples of the checkpoint would deliver them twice. For an ended task attach may
// return the zero Task, which cannot be evaluated; if all have ended, attach may be nil.
//
// A file that is damaged or belongs to a different learner is refused, and nothing changes. If a
// task cannot be attached again, the learner cannot be used any more, except for another Load or
// [Learner.Restore]. After Load the learner has another memory: a store that [Learner.Memory]
// returned before is no longer its own.
func (l *Learner) Load(path string, attach func(id int) (Task, error)) error {
	s, err := LoadState(path)
	if err != nil {
		return err
	}
	return l.Restore(s, attach)
}

// Restore is like [Learner.Load], for a state that [Learner.State] or [LoadState] returned.
func (l *Learner) Restore(s State, attach func(id int) (Task, error)) error {
	if err := l.enter(context.Background(), true); err != nil { // also if it was stopped by a failure
		return err
	}
	defer l.leave()
	if err := l.restore(s, attach); err != nil {
		return fmt.Errorf("pcl: restore: %w", err)
	}
	return nil
}

// restore restores what snapshot returned. attach returns the task with the given id, with its
// stream at any position and its test samples.
func (l *Learner) restore(f State, attach func(id int) (Task, error)) error {
	s, m, err := l.decode(f)
	if err != nil {
		return err
	}
	stored, err := memory.Restore(s.Memory, f.Arrays, l.options.Memory, l.options.spec().Width())
	if err != nil {
		return err
	}
	draws, rule, err := methodState(l.method, l.rng)
	if err != nil {
		return err
	}
	old, loss := l.options.Model, lossOf(l.method, method.MemoryID)
	if err := l.network.useModel(m, loss); err != nil {
		return err
	}
	l.prediction.outdate()
	// The state may be of other parameters than the method has.
	if err := setMethodState(l.method, l.rng, s.Rand, s.Rule); err != nil {
		if failed := l.network.useModel(old, loss); failed != nil {
			return failed
		}
		if failed := setMethodState(l.method, l.rng, draws, rule); failed != nil {
			return failed
		}
		return err
	}
	defer l.ready.notify()
	return l.turns.attempt("attaching a stream again", func() error { return l.takeUp(s, f.Arrays, stored, attach) })
}

// decode decodes a saved state and checks that it belongs to a learner like this one, whose
// model then is m. It changes nothing.
func (l *Learner) decode(f State) (s learnerState, m model.Model, err error) {
	if err := json.Unmarshal(f.JSON, &s); err != nil {
		return learnerState{}, nil, fmt.Errorf("state: %w", err)
	}
	name := l.method.Info.Name
	if s.Method != name {
		return learnerState{}, nil, fmt.Errorf("it was saved by method %s, this learner has %s", s.Method, name)
	}
	if m, err = l.options.modelOf(s.Outputs, len(f.Arrays["theta"])); err != nil {
		return learnerState{}, nil, err
	}
	if err := s.fits(*l.options, m); err != nil {
		return learnerState{}, nil, err
	}
	if err := l.options.checkArrays(f.Arrays, m.Layout()); err != nil {
		return learnerState{}, nil, err
	}
	return s, m, nil
}

// modelOf returns the model with as many outputs as a saved classifier had. A damaged state may
// claim any number, but each output has a parameter at least, so that their number bounds what is
// built.
func (o Options) modelOf(outputs, parameters int) (model.Model, error) {
	if !o.Grow || outputs == 0 || outputs == o.Model.Outputs() {
		return o.Model, nil
	}
	if outputs < 0 || outputs > parameters {
		return nil, fmt.Errorf("its classifier of %d outputs has %d parameters", outputs, parameters)
	}
	return o.Model.(model.Resizer).WithOutputs(outputs)
}

// fits returns an error if the state would mean something else to a learner with these options and
// model m.
func (s *learnerState) fits(o Options, m model.Model) error {
	now := *o.madeWith(m)
	was := *cmp.Or(s.Made, &now) // old files do not tell, or do not tell the model
	if was.Model == "" {
		now.Model = ""
	}
	was.Optimizer = strings.TrimPrefix(was.Optimizer, "adamw 0 ") // older files' AdamW without decay is Adam
	if was != now {
		return fmt.Errorf(
			"it was saved by a learner with %+v, this one has %+v: make the learner with the same options",
			was, now)
	}
	for i, t := range s.Tasks {
		most := len(t.Class)
		if t.Ahead != nil {
			most = max(most, len(t.Ahead.Class))
		}
		if !t.Ended && most > o.Batch {
			return fmt.Errorf(
				"%s: a batch of %d samples had been fetched from its stream: "+
					"make the learner with Options.Batch of at least that, not %d",
				label(t.number(i), t.Name), most, o.Batch)
		}
	}
	return nil
}

// checkArrays returns an error if arrays that have to do with the parameters are not as long as the
// layout says.
func (o Options) checkArrays(arrays map[string][]float32, l *model.Layout) error {
	want := map[string]int{"theta": l.Total, "statistics": l.StatsTotal}
	for _, name := range o.Optimizer.State() {
		want[name] = l.Total
	}
	if arrays["remembered"] != nil {
		want["remembered"] = l.Total
	}
	for name, n := range want {
		if len(arrays[name]) != n {
			return fmt.Errorf("array %q has %d entries; the model has %d", name, len(arrays[name]), n)
		}
	}
	return nil
}

// takeUp replaces the rest of the learner's state by a saved one. If it fails, the learner is left
// half restored.
func (l *Learner) takeUp(
	s learnerState, arrays map[string][]float32, stored *memory.Store, attach func(id int) (Task, error),
) error {
	l.version++
	l.memory = stored
	l.tasks.free()
	*l.tasks = *newTasks(l.options.Increment)
	r := restoration{
		tasks: l.tasks, network: l.network, arrays: arrays, attach: attach, notify: l.ready.notify,
		admit: admission(l.method),
	}
	for i, state := range s.Tasks {
		if err := r.task(state.number(i), state); err != nil {
			return err
		}
	}
	if err := checkOutputs(l.options.Model.Outputs(), l.tasks.registry.used); err != nil {
		return err
	}
	l.tasks.registry.skip(min(s.Last, maxID))
	l.steps = s.Step
	l.prediction.outdate()
	return r.parameters(s)
}

// restoration puts what was saved of the tasks and the parameters back.
type restoration struct {
	tasks   *tasks
	network *network
	arrays  map[string][]float32
	attach  func(id int) (Task, error) // may be nil
	notify  func()                     // for streams to call when they are ready
	admit   func(x []float32) error    // as in attached
}

// parameters restores the network's arrays, once the tasks are there.
func (r restoration) parameters(s learnerState) error {
	n := r.network
	n.auxiliary.free()
	if theta := r.arrays["remembered"]; theta != nil {
		taught := map[int]bool{}
		for _, id := range s.Remembered {
			for _, o := range r.tasks.registry.outputs(id) {
				taught[o] = true
			}
		}
		outputs := slices.Collect(maps.Keys(taught))
		if err := n.auxiliary.remember(n.options.Backend, theta, allBut(s.Remembered), outputs); err != nil {
			return err
		}
	}
	var moments [][]float32
	for _, name := range n.options.Optimizer.State() {
		moments = append(moments, r.arrays[name])
	}
	copy(n.statistics, r.arrays["statistics"])
	n.updates = s.Update
	return n.set(r.arrays["theta"], moments)
}

// task restores a task, with the stream that attach gives it if it had not ended.
func (r restoration) task(id int, s taskState) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", label(id, s.Name), err)
		}
	}()
	registry := &r.tasks.registry
	if last := registry.last(); id <= last || id > maxID {
		return fmt.Errorf("it comes after task %d; want ids that count up, at most %d", last, maxID)
	}
	registry.skip(id - 1)
	t := &attached{id: id, exhausted: s.Over, samples: new(atomic.Int64), admit: r.admit,
		features: r.network.options.Features}
	if r.attach != nil {
		if t.Task, err = r.attach(id); err != nil {
			return err
		}
	}
	if t.Classes != nil && !slices.Equal(t.Classes, s.Classes) {
		return fmt.Errorf("it had classes %v, now %v", s.Classes, t.Classes)
	}
	t.Name, t.Classes = cmp.Or(t.Name, s.Name), s.Classes
	if t.ClassNames = slices.Clone(t.ClassNames); t.ClassNames == nil {
		t.ClassNames = s.ClassNames
	}
	head, err := registry.next(s.Classes)
	if err != nil {
		return err
	}
	if err := t.checkNames(nil); err != nil {
		return err
	}
	t.samples.Store(int64(s.Samples))
	t.paused.Store(s.Paused)
	registry.add(t.Task, head, t.samples)
	if s.Ended {
		r.tasks.countEnded(id, 1)
		return nil
	}
	r.tasks.start(t)
	if err := r.stream(t, s); err != nil {
		return err
	}
	return t.listen(r.notify)
}

// stream sets the position of a running task's stream, and takes up what had been fetched from it.
func (r restoration) stream(t *attached, s taskState) error {
	stream, ok := t.Stream.(data.Resumable)
	if !ok || s.Reservoir == nil {
		return errors.New(
			"it was running when the learner was saved: it needs its stream, as a data.Resumable, and its reservoir")
	}
	if err := stream.SetState(s.Stream); err != nil {
		return err
	}
	var err error
	collected, width := r.arrays[taskArray("reservoir", t.id)], r.network.options.spec().Width()
	if t.reservoir, err = memory.RestoreReservoir(s.Reservoir, collected, width); err != nil {
		return err
	}
	if err := t.makeBatches(r.network.programs.Lane(t.id)); err != nil {
		return err
	}
	if s.Class != nil {
		if err := s.batchState.restore(t, t.current, r.arrays[taskArray("batch", t.id)]); err != nil {
			return err
		}
		t.ready = true
	}
	if s.Ahead != nil {
		if err := s.Ahead.restore(t, t.spare, r.arrays[taskArray("ahead", t.id)]); err != nil {
			return err
		}
		t.fetched = true
	}
	return nil
}

// restore fills a batch with the one that a task had fetched.
func (s *batchState) restore(t *attached, b *device.Batch, pixels []float32) error {
	n := len(s.Class)
	if len(pixels) != n*len(b.X)/len(b.Class) {
		return fmt.Errorf("a fetched batch of %d samples has %d values", n, len(pixels))
	}
	return t.take(b, &data.Batch{X: pixels, Class: s.Class, N: n, Repeat: s.Repeat})
}
