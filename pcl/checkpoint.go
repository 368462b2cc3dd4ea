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

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
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
	Memory  json.RawMessage `json:"memory"`
	Tasks   []taskState     `json:"tasks"`
	// Last is the highest id that was given or skipped; absent in old files, where it is that of the last task.
	Last int `json:"last,omitempty"`
	// Remembered lists the tasks that had ended when the method last remembered θ; absent if it never did.
	Remembered []int `json:"remembered,omitempty"`
}

type taskState struct {
	TaskInfo                  // without an id in old files, where it is the task's place, from 1
	Stream    json.RawMessage `json:"stream,omitempty"` // the stream's position after the fetched batches
	Reservoir json.RawMessage `json:"reservoir,omitempty"`
	Over      bool            `json:"over,omitempty"` // the stream has no further batch
	batchState
	// Ahead is a second batch, which a step that failed had fetched.
	Ahead *batchState `json:"ahead,omitempty"`
}

// batchState is a fetched batch without its pixels. It has no samples if the stream has yet to deliver one.
type batchState struct {
	Class  []int `json:"class,omitempty"`
	Repeat bool  `json:"repeat,omitempty"`
}

// taskArray names an array of one task. A checkpoint has the arrays "theta", "memory", "memory/logits",
// "memory/origin", "statistics", "remembered" and those of the optimiser; for each running task it has
// "reservoir/ID" and, where there are such batches, "batch/ID" and "ahead/ID".
func taskArray(kind string, id int) string { return fmt.Sprintf("%s/%d", kind, id) }

// madeWith has those options of a learner with which a saved state means something else.
type madeWith struct {
	Increment string `json:"increment"`
	Shared    string `json:"shared"`
	Optimizer string `json:"optimizer"` // its key: the learning rate may differ
	Loss      string `json:"loss,omitempty"`
	Model     string `json:"model,omitempty"` // its key; absent in old files
}

func (o Options) madeWith(m model.Model) *madeWith {
	return &madeWith{o.Increment, o.Shared, o.Optimizer.Key(), keyOf(o.Loss), m.Key()}
}

// ErrDamaged marks the error of [LoadState] and [Learner.Load] for a file that is not a complete, unaltered checkpoint.
var ErrDamaged = errors.New("damaged checkpoint")

// State is everything that a learner remembers, as [Learner.State] returns it.
type State struct {
	JSON   json.RawMessage
	Arrays map[string][]float32
}

// Save writes everything that the learner remembers to one file. The file is written under a temporary name and
// then renamed, so that path never holds half a checkpoint. Every running stream must be [data.Resumable].
func (l *Learner) Save(path string) error { return l.SaveContext(context.Background(), path) }

// SaveContext is [Learner.Save], but gives up, and returns the error of ctx, when ctx ends before its turn.
func (l *Learner) SaveContext(ctx context.Context, path string) error {
	return l.call(ctx, "save", func() error {
		snapshot, err := l.snapshot()
		if err != nil {
			return err
		}
		return snapshot.Save(path)
	})
}

// State returns everything that [Learner.Save] would write, for a caller that stores it elsewhere. Every
// running stream must be [data.Resumable].
func (l *Learner) State() (State, error) {
	return callFor(context.Background(), l, "state", l.snapshot)
}

// LoadState reads what [Learner.Save] or [State.Save] wrote.
func LoadState(path string) (s State, err error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("pcl: load state: %w", err)
	}
	if s.JSON, s.Arrays, err = checkpoint.Decode(data); err != nil {
		err = fmt.Errorf("pcl: load state: %s: %w: %w", path, ErrDamaged, err)
	}
	return s, err
}

// Tasks tells which tasks the state has, in order of arrival, so that whoever calls [Learner.Restore] knows what to attach.
func (s State) Tasks() ([]TaskInfo, error) {
	var l learnerState
	if err := json.Unmarshal(s.JSON, &l); err != nil {
		return nil, fmt.Errorf("pcl: saved tasks: %w", err)
	}
	out := make([]TaskInfo, len(l.Tasks))
	for i, t := range l.Tasks {
		out[i] = t.TaskInfo
		out[i].ID = t.number(i)
	}
	return out, nil
}

// Save writes the state to a file, as [Learner.Save] does.
func (s State) Save(path string) error {
	return checkpoint.Save(path, s.JSON, s.Arrays)
}

// snapshot returns the whole state of the learner.
func (l *Learner) snapshot() (State, error) {
	s := learnerState{
		Method: l.method.Info.Name, Made: l.options.madeWith(l.options.Model), Step: l.steps, Update: l.network.updates, Last: l.roll.last(),
	}
	var arrays map[string][]float32
	s.Memory, arrays = l.memory.State()
	if l.options.Grow {
		s.Outputs = l.options.Model.Outputs()
	}
	var err error
	if s.Rand, s.Rule, err = l.rule(); err != nil {
		return State{}, err
	}
	if l.network.statistics != nil {
		arrays["statistics"] = slices.Clone(l.network.statistics)
	}
	vectors := map[string]compute.Buffer{"theta": l.network.theta}
	if l.others.remembered != nil {
		vectors["remembered"], s.Remembered = l.others.remembered, l.others.over.ids(l.roll)
	}
	for i, name := range l.options.Optimizer.State() {
		vectors[name] = l.network.state[i]
	}
	for name, b := range vectors {
		values, err := program.Read[float32](b, l.total())
		if err != nil {
			return State{}, err
		}
		arrays[name] = slices.Clone(values)
	}
	for _, info := range l.roll.infos(l.tasks) {
		state := taskState{TaskInfo: info}
		if t := l.tasks.get(info.ID); t != nil {
			if err := t.snapshot(&state, arrays); err != nil {
				return State{}, err
			}
		}
		s.Tasks = append(s.Tasks, state)
	}
	text, err := json.Marshal(s)
	return State{text, arrays}, err
}

// rule returns the state of the method's random draws, and what it remembers; nil if it remembers nothing.
func (l *Learner) rule() (draws []byte, state json.RawMessage, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", l.byMethod(), err)
		}
	}()
	defer recovered(&err, "it panicked")
	draws, _ = l.rng.MarshalBinary() // of two numbers there is no error
	if m := l.method.Stateful; m != nil {
		if state, err = m.MarshalState(); err != nil {
			return nil, nil, err
		}
		if state != nil && !json.Valid(state) {
			return nil, nil, errors.New("its MarshalState returned something that is not JSON")
		}
	}
	return draws, state, nil
}

// setRule sets what rule returns.
func (l *Learner) setRule(draws []byte, state json.RawMessage) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", l.byMethod(), err)
		}
	}()
	defer recovered(&err, "it panicked")
	if err := l.rng.UnmarshalBinary(draws); err != nil {
		return err
	}
	if m := l.method.Stateful; m != nil {
		if err := m.UnmarshalState(state); err != nil {
			return err
		}
	}
	return nil
}

// snapshot adds to a task's state what there is of a running one.
func (t *attached) snapshot(s *taskState, arrays map[string][]float32) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", label(t.id, t.Name), err)
		}
	}()
	defer recovered(&err, "the stream panicked")
	stream, ok := t.Stream.(data.Resumable)
	if !ok {
		return errors.New(
			"its stream is not data.Resumable (it lacks State and SetState), so the learner cannot be saved while it runs")
	}
	if s.Stream, err = stream.State(); err != nil {
		return err
	}
	if h, ok := stream.(holder); ok {
		s.Waiting = h.Saved()
	}
	s.Over = t.over
	s.Reservoir, arrays[taskArray("reservoir", t.id)] = t.reservoir.State()
	if t.ready {
		s.batchState, arrays[taskArray("batch", t.id)] = stateOf(t.current)
	}
	if t.fetched {
		s.Ahead = new(batchState)
		*s.Ahead, arrays[taskArray("ahead", t.id)] = stateOf(t.spare)
	}
	return nil
}

func stateOf(b *device.Batch) (s batchState, pixels []float32) {
	return batchState{slices.Clone(b.Class[:b.N]), b.Repeat}, slices.Clone(b.X[:b.N*len(b.X)/len(b.Class)])
}

// Load restores what [Learner.Save] wrote, so that training continues as if it had never stopped. The learner must
// have been made with the same Options; parameters of the method are compared only where its state depends on them. The
// learning rate, the batch size, the budget of the memory, editing, augmentation and the seed may differ, and the new ones
// apply. Batches already fetched from running streams must fit into the new batch size. A smaller budget thins out the
// memory at once; a task that was running adds no more samples than the old budget allowed.
//
// Load calls attach with the id of each task that had arrived ([State.Tasks] lists them), and sets the position of the
// stream of the task that attach returns. A [data.PushStream] must be new: one that still holds samples of the checkpoint would
// deliver them twice. For an ended task attach may return the zero Task, which cannot be evaluated; if all have ended,
// attach may be nil.
//
// A file that is damaged or belongs to a different learner is refused, and nothing changes. If a task cannot be attached
// again, the learner cannot be used any more, except for another Load or [Learner.Restore]. After Load the learner has
// another memory: a store that [Learner.Memory] returned before is no longer its own.
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

// restore restores what snapshot returned. attach returns the task with the given id, with its stream at any
// position and its test samples.
func (l *Learner) restore(f State, attach func(id int) (Task, error)) error {
	s, m, err := l.understand(f)
	if err != nil {
		return err
	}
	stored, err := memory.Restore(s.Memory, f.Arrays, l.options.Memory, l.options.spec().Width())
	if err != nil {
		return err
	}
	draws, rule, err := l.rule()
	if err != nil {
		return err
	}
	old := l.options.Model
	if err := l.useModel(m); err != nil {
		return err
	}
	if err := l.setRule(s.Rand, s.Rule); err != nil { // it may be of other parameters than the method has
		if failed := l.useModel(old); failed != nil {
			return failed
		}
		if failed := l.setRule(draws, rule); failed != nil {
			return failed
		}
		return err
	}
	defer l.bell.ring()
	return l.wholly("attaching a stream again", func() error { return l.takeUp(s, f.Arrays, stored, attach) })
}

// understand decodes a saved state and checks that it belongs to a learner like this one, whose model then is m. It
// changes nothing.
func (l *Learner) understand(f State) (s learnerState, m model.Model, err error) {
	if err := json.Unmarshal(f.JSON, &s); err != nil {
		return learnerState{}, nil, fmt.Errorf("state: %w", err)
	}
	name := l.method.Info.Name
	if s.Method != name {
		return learnerState{}, nil, fmt.Errorf("it was saved by method %s, this learner has %s", s.Method, name)
	}
	if m, err = l.modelOf(s.Outputs, len(f.Arrays["theta"])); err != nil {
		return learnerState{}, nil, err
	}
	if err := s.fits(l.options, m); err != nil {
		return learnerState{}, nil, err
	}
	if err := l.options.checkArrays(f.Arrays, m.Layout()); err != nil {
		return learnerState{}, nil, err
	}
	return s, m, nil
}

// modelOf returns the model with as many outputs as a saved classifier had. A damaged state may claim any number, but
// each output has a parameter at least, so that their number bounds what is built.
func (l *Learner) modelOf(outputs, parameters int) (model.Model, error) {
	if !l.options.Grow || outputs == 0 || outputs == l.options.Model.Outputs() {
		return l.options.Model, nil
	}
	if outputs < 0 || outputs > parameters {
		return nil, fmt.Errorf("its classifier of %d outputs has %d parameters", outputs, parameters)
	}
	return l.options.Model.(model.Resizer).WithOutputs(outputs)
}

// fits returns an error if the state would mean something else to a learner with these options and model m.
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
				"%s: a batch of %d samples had been fetched from its stream: make the learner with Options.Batch of at least that, not %d", label(t.number(i), t.Name), most, o.Batch)
		}
	}
	return nil
}

// checkArrays returns an error if arrays that have to do with the parameters are not as long as the layout says.
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

// takeUp replaces the rest of the learner's state by a saved one. If it fails, the learner is left half restored.
func (l *Learner) takeUp(s learnerState, arrays map[string][]float32, stored *memory.Store, attach func(id int) (Task, error)) error {
	l.version++
	l.memory = stored
	for _, t := range l.tasks {
		t.free()
	}
	l.roll, l.tasks, l.over = roll{increment: l.options.Increment}, nil, map[int]int{}
	for i, state := range s.Tasks {
		if err := l.restoreTask(state.number(i), state, arrays, attach); err != nil {
			return err
		}
	}
	if err := suffice(l.options.Model.Outputs(), l.roll.used); err != nil {
		return err
	}
	l.roll.skip(min(s.Last, maxID))
	l.others.free()
	if theta := arrays["remembered"]; theta != nil {
		taught := map[int]bool{}
		for _, id := range s.Remembered {
			for _, o := range l.roll.outputs(id) {
				taught[o] = true
			}
		}
		if err := l.others.remember(l.options.Backend, theta, allBut(s.Remembered), slices.Collect(maps.Keys(taught))); err != nil {
			return err
		}
	}
	var moments [][]float32
	for _, name := range l.options.Optimizer.State() {
		moments = append(moments, arrays[name])
	}
	copy(l.network.statistics, arrays["statistics"])
	l.steps, l.network.updates, l.prepared = s.Step, s.Update, 0
	return l.network.set(l.options.Backend, arrays["theta"], moments)
}

// restoreTask restores a task, with the stream that attach gives it if it had not ended.
func (l *Learner) restoreTask(id int, s taskState, arrays map[string][]float32, attach func(id int) (Task, error)) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", label(id, s.Name), err)
		}
	}()
	if id <= l.roll.last() || id > maxID {
		return fmt.Errorf("it comes after task %d; want ids that count up, at most %d", l.roll.last(), maxID)
	}
	l.roll.skip(id - 1)
	t := &attached{id: id, over: s.Over, samples: new(atomic.Int64)}
	if attach != nil {
		if t.Task, err = attach(id); err != nil {
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
	head, err := l.roll.next(s.Classes)
	if err != nil {
		return err
	}
	if err := t.checkNames(nil); err != nil {
		return err
	}
	t.samples.Store(int64(s.Samples))
	t.paused.Store(s.Paused)
	l.roll.add(t.Task, head, t.samples)
	if s.Ended {
		l.count(id, 1)
		return nil
	}
	l.tasks = l.tasks.with(t)
	if err := l.restoreStream(t, s, arrays); err != nil {
		return err
	}
	return l.listen(t)
}

func (l *Learner) restoreStream(t *attached, s taskState, arrays map[string][]float32) error {
	stream, ok := t.Stream.(data.Resumable)
	if !ok || s.Reservoir == nil {
		return errors.New(
			"it was running when the learner was saved: it needs its stream, as a data.Resumable, and its reservoir")
	}
	if err := stream.SetState(s.Stream); err != nil {
		return err
	}
	var err error
	if t.reservoir, err = memory.RestoreReservoir(s.Reservoir, arrays[taskArray("reservoir", t.id)], l.options.spec().Width()); err != nil {
		return err
	}
	if err := l.prepareBatches(t); err != nil {
		return err
	}
	if s.Class != nil {
		if err := s.batchState.restore(t, t.current, arrays[taskArray("batch", t.id)]); err != nil {
			return err
		}
		t.ready = true
	}
	if s.Ahead != nil {
		if err := s.Ahead.restore(t, t.spare, arrays[taskArray("ahead", t.id)]); err != nil {
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
