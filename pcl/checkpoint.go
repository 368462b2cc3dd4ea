package pcl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/heads"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// learnerState is everything that a learner remembers except its arrays. The arrays are the parameters, the
// optimiser's moments, and the pixels of the memory, of the reservoirs and of the batches already fetched.
type learnerState struct {
	Method string    `json:"method"`
	Made   *madeWith `json:"made,omitempty"` // absent in old files
	Step   int       `json:"step"`
	Update int       `json:"update"`
	// Outputs is how many outputs the classifier has; absent unless it may grow.
	Outputs int             `json:"outputs,omitempty"`
	Rand    []byte          `json:"rand"`
	Rule    json.RawMessage `json:"rule,omitempty"` // the method's state
	Memory  memory.State    `json:"memory"`
	Tasks   []taskState     `json:"tasks"`
	// Last is the highest id that was given or skipped; absent in old files, where it is that of the last task.
	Last int `json:"last,omitempty"`
	// Remembered lists the tasks that had ended when the method last remembered θ; absent if it never did.
	Remembered []int `json:"remembered,omitempty"`
}

type taskState struct {
	ID        int                    `json:"id,omitempty"`      // absent in old files, where it is the task's place, from 1
	Samples   int                    `json:"samples,omitempty"` // which its streams have delivered
	Name      string                 `json:"name"`
	Classes   []int                  `json:"classes"`
	Names     []string               `json:"class_names,omitempty"`
	Ended     bool                   `json:"ended"`
	Stream    json.RawMessage        `json:"stream,omitempty"` // the stream's position after the fetched batches
	Reservoir *memory.ReservoirState `json:"reservoir,omitempty"`
	Over      bool                   `json:"over,omitempty"` // the stream has no further batch
	Paused    bool                   `json:"paused,omitempty"`
	Failure   string                 `json:"failure,omitempty"` // of the stream, which a step has yet to return
	batchState
	// Ahead is a second batch, which a step that failed had fetched.
	Ahead *batchState `json:"ahead,omitempty"`
}

// id is that of the task in the i-th place.
func (s *taskState) id(i int) int { return cmp.Or(s.ID, i+1) }

// batchState is a fetched batch without its pixels. It has no samples if the stream has yet to deliver one.
type batchState struct {
	Class  []int `json:"class,omitempty"`
	Repeat bool  `json:"repeat,omitempty"`
}

// taskArray names an array of one task. A checkpoint has the arrays "theta", "memory", "memory/logits",
// "memory/origin", "statistics", "remembered" and those of the optimiser; for each running task it has
// "reservoir/ID" and, where there are such batches, "batch/ID" and "ahead/ID".
func taskArray(kind string, id int) string { return fmt.Sprintf("%s/%d", kind, id) }

// reserved returns an error if vectors of an optimiser cannot be arrays of a checkpoint beside the learner's own.
func reserved(names []string) error {
	for i, name := range names {
		kind, _, _ := strings.Cut(name, "/")
		switch kind {
		case "theta", "memory", "statistics", "remembered", "reservoir", "batch", "ahead":
			return fmt.Errorf("its State names a vector %q, which is the name of one of the learner's own: choose another", name)
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("its State names two vectors %q", name)
		}
	}
	return nil
}

// ErrDamaged marks the error of [Learner.Load] for a file that is not a complete, unaltered checkpoint.
var ErrDamaged = checkpoint.ErrDamaged

// State is everything that a learner remembers, as [Learner.State] returns it.
type State struct {
	JSON   json.RawMessage
	Arrays map[string][]float32
}

// Save writes everything that the learner remembers to one file. The file is written under a temporary name and
// then renamed, so that path never holds half a checkpoint. Every running stream must be [data.Resumable].
func (l *Learner) Save(path string) error {
	if err := l.enter(false); err != nil {
		return err
	}
	defer l.leave()
	s, err := l.snapshot()
	if err != nil {
		return fmt.Errorf("pcl: save: %w", err)
	}
	return checkpoint.Save(path, checkpoint.File{State: s.JSON, Arrays: s.Arrays})
}

// State returns everything that [Learner.Save] would write, for a caller that stores it elsewhere. Every
// running stream must be [data.Resumable].
func (l *Learner) State() (State, error) {
	if err := l.enter(false); err != nil {
		return State{}, err
	}
	defer l.leave()
	s, err := l.snapshot()
	if err != nil {
		return State{}, fmt.Errorf("pcl: state: %w", err)
	}
	return s, nil
}

// Restore is like [Learner.Load], for a state that [Learner.State] returned.
func (l *Learner) Restore(s State, attach func(id int) (Task, error)) error {
	if err := l.enter(true); err != nil {
		return err
	}
	defer l.leave()
	if err := l.restore(s, attach); err != nil {
		return fmt.Errorf("pcl: restore: %w", err)
	}
	return nil
}

// Load restores what [Learner.Save] wrote, so that training continues as if it had never stopped. The learner must
// have been made with the same Options; parameters of the method are compared only where its state depends on them. The
// learning rate, the batch size, the budget of the memory, editing, augmentation and the seed may differ, and the new ones
// apply. Batches already fetched from running streams must fit into the new batch size. A smaller budget thins out the
// memory at once; a task that was running adds no more samples than the old budget allowed.
//
// Load calls attach with the id of each task that had arrived ([SavedTasks] lists them), and sets the position of the
// stream of the task that attach returns. A [data.Push] must be new: one that still holds samples of the checkpoint would
// deliver them twice. For an ended task attach may return the zero Task, which cannot be evaluated; if all have ended,
// attach may be nil.
//
// A file that is damaged or belongs to a different learner is refused, and nothing changes. If a task cannot be attached
// again, the learner cannot be used any more, except for another Load or [Learner.Restore]. After Load the learner has
// another memory: a store that [Learner.Memory] returned before is no longer its own.
func (l *Learner) Load(path string, attach func(id int) (Task, error)) error {
	if err := l.enter(true); err != nil {
		return err
	}
	defer l.leave()
	f, err := checkpoint.Load(path)
	if err != nil {
		return fmt.Errorf("pcl: load: %w", err)
	}
	if err := l.restore(State{f.State, f.Arrays}, attach); err != nil {
		return fmt.Errorf("pcl: load %s: %w", path, err)
	}
	return nil
}

// SavedTasks tells which tasks a file has that [Learner.Save] wrote, in order of arrival, so that whoever calls
// [Learner.Load] knows what to attach.
func SavedTasks(path string) ([]TaskInfo, error) {
	f, err := checkpoint.Load(path)
	if err != nil {
		return nil, fmt.Errorf("pcl: saved tasks: %w", err)
	}
	var s learnerState
	if err := json.Unmarshal(f.State, &s); err != nil {
		return nil, fmt.Errorf("pcl: saved tasks of %s: %w", path, err)
	}
	out := make([]TaskInfo, len(s.Tasks))
	for i, t := range s.Tasks {
		out[i] = TaskInfo{ID: t.id(i), Samples: t.Samples, Name: t.Name, Classes: t.Classes, ClassNames: t.Names, Ended: t.Ended, Paused: t.Paused}
	}
	return out, nil
}

// ruleState returns what the method remembers; nil if it remembers nothing.
func (l *Learner) ruleState() (state json.RawMessage, err error) {
	m, ok := method.As[method.Stateful](l.options.Method)
	if !ok {
		return nil, nil
	}
	err = guarded(l.byMethod(), func() error {
		if state, err = m.MarshalState(); err != nil {
			return fmt.Errorf("%s: %w", l.byMethod(), err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if state != nil && !json.Valid(state) {
		return nil, fmt.Errorf("%s: its MarshalState returned what is no JSON", l.byMethod())
	}
	return state, nil
}

// snapshot returns the whole state of the learner. Every running stream must be [data.Resumable].
func (l *Learner) snapshot() (f State, err error) {
	if err := l.usable(); err != nil {
		return f, err
	}
	s := learnerState{Method: l.options.Method.Info().Name, Made: l.options.madeWith(), Step: l.step, Update: l.network.updates, Last: l.roll.last()}
	f.Arrays = map[string][]float32{}
	if l.options.Grow {
		s.Outputs = l.options.Model.Outputs()
	}
	if s.Rand, err = l.rng.MarshalBinary(); err != nil {
		return f, err
	}
	if s.Rule, err = l.ruleState(); err != nil {
		return f, err
	}
	if s.Memory, err = l.memory.State(); err != nil {
		return f, err
	}
	f.Arrays["memory"] = l.memory.Pixels()
	f.Arrays["memory/logits"], f.Arrays["memory/origin"] = l.memory.Extras()
	running := l.tasks
	for i, known := range l.roll.tasks {
		if known == nil {
			continue
		}
		state := taskState{ID: i + 1, Samples: int(known.samples.Load()), Name: known.Name, Classes: known.Classes, Names: known.ClassNames, Ended: true}
		if len(running) > 0 && running[0].id == i+1 {
			if err := guarded("saving a stream", func() error { return running[0].snapshot(&state, f.Arrays) }); err != nil {
				return f, fmt.Errorf("%s: %w", label(i+1, known.Name), err)
			}
			running = running[1:]
		}
		s.Tasks = append(s.Tasks, state)
	}
	if f.Arrays["theta"], err = l.parameters(); err != nil {
		return f, err
	}
	if l.network.statistics != nil {
		f.Arrays["statistics"] = slices.Clone(l.network.statistics)
	}
	if l.others.remembered != nil {
		values := make([]float32, len(f.Arrays["theta"]))
		if err := program.ToHost(values, l.others.remembered); err != nil {
			return f, err
		}
		f.Arrays["remembered"], s.Remembered = values, l.others.over.ids(l.roll)
	}
	for i, name := range l.options.Optimizer.State() {
		values := make([]float32, len(f.Arrays["theta"]))
		if err := program.ToHost(values, l.network.state[i]); err != nil {
			return f, err
		}
		f.Arrays[name] = values
	}
	f.JSON, err = json.Marshal(s)
	return f, err
}

// snapshot adds to a task's state what there is of a running one.
func (t *task) snapshot(s *taskState, arrays map[string][]float32) (err error) {
	s.Ended, s.Over, s.Paused = false, t.over, t.paused.Load()
	if t.err != nil {
		s.Failure = t.err.Error()
	}
	stream, ok := t.Stream.(data.Resumable)
	if !ok {
		return errors.New("its stream is not data.Resumable (it lacks State and SetState), so the learner cannot be saved while it runs")
	}
	if s.Stream, err = stream.State(); err != nil {
		return err
	}
	reservoir, err := t.reservoir.State()
	if err != nil {
		return err
	}
	s.Reservoir = &reservoir
	arrays[taskArray("reservoir", t.id)] = memory.Flatten(t.reservoir.Items())
	if t.ready {
		s.batchState, arrays[taskArray("batch", t.id)] = stateOf(t.current)
	}
	if t.fetched {
		ahead, pixels := stateOf(t.spare)
		s.Ahead, arrays[taskArray("ahead", t.id)] = &ahead, pixels
	}
	return nil
}

func stateOf(b *device.Batch) (batchState, []float32) {
	classes, pixels := b.State()
	return batchState{Class: classes, Repeat: b.Repeat}, pixels
}

// restoreBatch restores one fetched batch of a task.
func (t *task) restoreBatch(b *device.Batch, s batchState, pixels []float32) error {
	if err := b.Restore(t.id, s.Class, pixels); err != nil {
		return err
	}
	b.Repeat = s.Repeat
	return nil
}

// restore restores what snapshot returned. attach returns the task with the given id, with its stream at any
// position and its test samples.
func (l *Learner) restore(f State, attach func(id int) (Task, error)) error {
	s, m, err := l.understand(f)
	if err != nil {
		return err
	}
	stored, err := l.storeOf(s, f)
	if err != nil {
		return err
	}
	undo, err := l.takeRule(s)
	if err != nil {
		return err
	}
	if err := l.use(m); err != nil {
		return errors.Join(err, undo())
	}
	l.failure = l.takeUp(s, f, stored, attach)
	l.bell.ring()
	l.publish()
	return l.failure
}

// understand decodes a saved state and checks that it belongs to a learner like this one, whose model then is m. It
// changes nothing.
func (l *Learner) understand(f State) (s learnerState, m model.Model, err error) {
	if err := json.Unmarshal(f.JSON, &s); err != nil {
		return s, nil, fmt.Errorf("state: %w", err)
	}
	if name := l.options.Method.Info().Name; s.Method != name {
		return s, nil, fmt.Errorf("it was saved by method %s, this learner has %s", s.Method, name)
	}
	if m, err = l.modelOf(s.Outputs, len(f.Arrays["theta"])); err != nil {
		return s, nil, err
	}
	if err := s.fits(l.options, m); err != nil {
		return s, nil, err
	}
	return s, m, l.options.checkArrays(f.Arrays, m.Layout())
}

// storeOf returns the memory of a saved state, with the budget of the learner's options.
func (l *Learner) storeOf(s learnerState, f State) (*memory.Store, error) {
	stored, err := memory.Restore(s.Memory, f.Arrays["memory"], f.Arrays["memory/logits"], f.Arrays["memory/origin"], l.options.spec().Width())
	if err != nil {
		return nil, err
	}
	return stored, stored.SetBudget(l.options.Memory.Budget)
}

// modelOf returns the model with as many outputs as a saved classifier had. A damaged state may claim any number, but
// each output has a parameter at least, so that their number bounds what is built.
func (l *Learner) modelOf(outputs, parameters int) (model.Model, error) {
	if !l.options.Grow || outputs == 0 || outputs == l.options.Model.Outputs() {
		return l.options.Model, nil
	}
	if outputs < 0 || outputs > parameters {
		return nil, fmt.Errorf("it says that the classifier had %d outputs, and has %d parameters", outputs, parameters)
	}
	r, err := l.options.resizer()
	if err != nil {
		return nil, err
	}
	return r.WithOutputs(outputs)
}

// fits returns an error if the state would mean something else to a learner with these options and model m.
func (s *learnerState) fits(o Options, m model.Model) error {
	if s.Made != nil {
		now := o.madeWith()
		now.Model = m.Key()
		if err := s.Made.differs(now); err != nil {
			return err
		}
	}
	if err := differ("Memory.Policy", s.Memory.Config.Policy, o.Memory.Policy); err != nil {
		return err
	}
	for i, t := range s.Tasks {
		if err := t.fits(o.Batch); err != nil {
			return fmt.Errorf("%s: %w", label(t.id(i), t.Name), err)
		}
	}
	return nil
}

// fits returns an error if a batch that was fetched has more samples than a batch of the learner.
func (s *taskState) fits(batch int) error {
	most := len(s.Class)
	if s.Ahead != nil {
		most = max(most, len(s.Ahead.Class))
	}
	if !s.Ended && most > batch {
		return fmt.Errorf("a batch of %d samples had been fetched from its stream, and this learner has batches of %d: make the learner with Options.Batch of at least %d", most, batch, most)
	}
	return nil
}

// checkArrays returns an error if arrays that have to do with the parameters are not as long as the layout says.
func (o Options) checkArrays(arrays map[string][]float32, l *model.Layout) error {
	for _, name := range append([]string{"theta"}, o.Optimizer.State()...) {
		if len(arrays[name]) != l.Total {
			return fmt.Errorf("array %q has %d entries, the model %d parameters", name, len(arrays[name]), l.Total)
		}
	}
	if theta := arrays["remembered"]; theta != nil && len(theta) != l.Total {
		return fmt.Errorf("remembered parameters: %d entries, the model has %d", len(theta), l.Total)
	}
	if n := len(arrays["statistics"]); n != l.StatsTotal {
		return fmt.Errorf("%d running statistics, the model has %d", n, l.StatsTotal)
	}
	return nil
}

// takeRule replaces the state of the method and of its random draws by a saved one, which may be of other parameters than
// the method has. After an error nothing has changed; undo restores what was there before.
func (l *Learner) takeRule(s learnerState) (undo func() error, err error) {
	err = guarded(l.byMethod(), func() (err error) { undo, err = l.exchangeRule(s); return err })
	return undo, err
}

func (l *Learner) exchangeRule(s learnerState) (undo func() error, err error) {
	draws, err := l.rng.MarshalBinary()
	if err != nil {
		return nil, err
	}
	undo = func() error { return l.rng.UnmarshalBinary(draws) }
	if err := l.rng.UnmarshalBinary(s.Rand); err != nil {
		return nil, errors.Join(err, undo())
	}
	m, ok := method.As[method.Stateful](l.options.Method)
	if !ok {
		return undo, nil
	}
	before, err := m.MarshalState()
	if err != nil {
		return nil, errors.Join(err, undo())
	}
	undo = func() error { return errors.Join(l.rng.UnmarshalBinary(draws), m.UnmarshalState(before)) }
	if err := m.UnmarshalState(s.Rule); err != nil {
		return nil, errors.Join(fmt.Errorf("method %s: %w", s.Method, err), undo())
	}
	return undo, nil
}

// takeUp replaces the rest of the learner's state by a saved one. After an error the learner is left half restored.
func (l *Learner) takeUp(s learnerState, f State, stored *memory.Store, attach func(id int) (Task, error)) (err error) {
	return guarded("attaching a stream again", func() (err error) {
		l.version++
		l.mirror.Free()
		l.memory = stored
		if err := l.restoreTasks(s.Tasks, f.Arrays, attach); err != nil {
			return err
		}
		l.skip(min(s.Last, maxID))
		var moments [][]float32
		for _, name := range l.options.Optimizer.State() {
			moments = append(moments, f.Arrays[name])
		}
		copy(l.network.statistics, f.Arrays["statistics"])
		l.others.free()
		if theta := f.Arrays["remembered"]; theta != nil {
			taught := map[int]bool{}
			for _, id := range s.Remembered {
				for _, o := range l.heads.Of(id) {
					taught[o] = true
				}
			}
			if err := l.others.remember(l.options.Backend, theta, allBut(s.Remembered), slices.Collect(maps.Keys(taught))); err != nil {
				return err
			}
		}
		l.step, l.network.updates, l.prepared = s.Step, s.Update, 0
		return l.network.set(l.options.Backend, f.Arrays["theta"], moments, len(moments))
	})
}

func (l *Learner) restoreTasks(states []taskState, arrays map[string][]float32, attach func(id int) (Task, error)) error {
	for _, t := range l.tasks {
		t.hush()
		t.free()
	}
	l.roll, l.tasks, l.over = roll{}, nil, map[int]int{}
	l.heads = heads.New(l.options.Increment, l.options.Model.Outputs())
	for i, s := range states {
		id := s.id(i)
		if id <= l.roll.last() || id > maxID {
			return fmt.Errorf("task %d comes after task %d; want ids that count up, at most %d", id, l.roll.last(), maxID)
		}
		l.skip(id - 1)
		var given Task
		if attach != nil {
			var err error
			if given, err = attach(id); err != nil {
				return fmt.Errorf("%s: %w", label(id, s.Name), err)
			}
		}
		if given.Classes == nil {
			given.Classes = s.Classes
		}
		if given.Name == "" {
			given.Name = s.Name
		}
		if !slices.Equal(given.Classes, s.Classes) {
			return fmt.Errorf("task %d had classes %v, now %v", id, s.Classes, given.Classes)
		}
		if err := l.heads.Add(s.Classes); err != nil {
			return fmt.Errorf("%s: %w", label(id, s.Name), err)
		}
		t := &task{Task: given, id: id, over: s.Over, samples: new(atomic.Int64)}
		t.samples.Store(int64(s.Samples))
		if s.Failure != "" {
			t.err = errors.New(s.Failure)
		}
		t.Classes = s.Classes
		if t.ClassNames == nil {
			t.ClassNames = s.Names
		}
		t.ClassNames = slices.Clone(t.ClassNames)
		if err := t.checkNames(); err != nil {
			return fmt.Errorf("%s: %w", label(id, s.Name), err)
		}
		t.paused.Store(s.Paused)
		l.roll.add(t.Task, t.samples)
		if s.Ended {
			l.count(id, 1)
			continue
		}
		l.run(t)
		if err := l.restoreStream(t, s, arrays); err != nil {
			return fmt.Errorf("%s: %w", label(id, s.Name), err)
		}
		if err := l.listen(t); err != nil {
			return fmt.Errorf("%s: %w", label(id, s.Name), err)
		}
	}
	return nil
}

func (l *Learner) restoreStream(t *task, s taskState, arrays map[string][]float32) error {
	if t.Stream == nil {
		return errors.New("it was running when the learner was saved, so its stream is needed")
	}
	if err := l.unshared(t); err != nil {
		return err
	}
	stream, ok := t.Stream.(data.Resumable)
	if !ok {
		return errors.New("its stream is not data.Resumable (it lacks State and SetState)")
	}
	if err := stream.SetState(s.Stream); err != nil {
		return err
	}
	if s.Reservoir == nil {
		return errors.New("its reservoir is missing")
	}
	var err error
	if t.reservoir, err = memory.RestoreReservoir(*s.Reservoir, arrays[taskArray("reservoir", t.id)], l.options.spec().Width()); err != nil {
		return err
	}
	if err := l.prepareBatches(t); err != nil {
		return err
	}
	if s.Class != nil {
		if err := t.restoreBatch(t.current, s.batchState, arrays[taskArray("batch", t.id)]); err != nil {
			return err
		}
	}
	if s.Ahead != nil {
		if err := t.restoreBatch(t.spare, *s.Ahead, arrays[taskArray("ahead", t.id)]); err != nil {
			return err
		}
	}
	t.ready, t.fetched = s.Class != nil, s.Ahead != nil
	return nil
}
