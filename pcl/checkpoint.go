package pcl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/heads"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/scenario"
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
	TaskInfo                         // without an id in old files, where it is the task's place, from 1
	Stream    json.RawMessage        `json:"stream,omitempty"` // the stream's position after the fetched batches
	Reservoir *memory.ReservoirState `json:"reservoir,omitempty"`
	Over      bool                   `json:"over,omitempty"` // the stream has no further batch
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
	Increment scenario.Increment `json:"increment"`
	Shared    SharedParams       `json:"shared"`
	Optimizer string             `json:"optimizer"` // its key: the learning rate may differ
	Loss      string             `json:"loss,omitempty"`
	Model     string             `json:"model,omitempty"` // its key; absent in old files
}

func (o Options) madeWith(m model.Model) *madeWith {
	return &madeWith{o.Increment, o.Shared, o.Optimizer.Key(), keyOf(o.Loss), m.Key()}
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
func (l *Learner) Save(path string) error { return l.SaveContext(context.Background(), path) }

// SaveContext is [Learner.Save], but gives up, and returns the error of ctx, when ctx ends before its turn.
func (l *Learner) SaveContext(ctx context.Context, path string) error {
	return l.call(ctx, "save", func() error {
		s, err := l.snapshot()
		if err != nil {
			return err
		}
		return s.Save(path)
	})
}

// State returns everything that [Learner.Save] would write, for a caller that stores it elsewhere. Every
// running stream must be [data.Resumable].
func (l *Learner) State() (State, error) {
	return callFor(context.Background(), l, "state", l.snapshot)
}

// SavedTasks tells which tasks a file has that [Learner.Save] wrote, in order of arrival, so that whoever calls
// [Learner.Load] knows what to attach.
func SavedTasks(path string) ([]TaskInfo, error) {
	f, err := checkpoint.Load(path)
	if err != nil {
		return nil, fmt.Errorf("pcl: saved tasks: %w", err)
	}
	return State{f.State, f.Arrays}.Tasks()
}

// Tasks tells which tasks the state has, as [SavedTasks] does of a file.
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
	return checkpoint.Save(path, checkpoint.File{State: s.JSON, Arrays: s.Arrays})
}

// snapshot returns the whole state of the learner.
func (l *Learner) snapshot() (f State, err error) {
	s := learnerState{
		Method: l.options.Method.Info().Name, Made: l.options.madeWith(l.options.Model), Step: l.steps, Update: l.network.updates, Last: l.roll.last(),
	}
	if l.options.Grow {
		s.Outputs = l.options.Model.Outputs()
	}
	if s.Rand, s.Rule, err = l.rule(); err != nil {
		return f, err
	}
	s.Memory = l.memory.State()
	f.Arrays = map[string][]float32{"memory": l.memory.Pixels()}
	f.Arrays["memory/logits"], f.Arrays["memory/origin"] = l.memory.Extras()
	if l.network.statistics != nil {
		f.Arrays["statistics"] = slices.Clone(l.network.statistics)
	}
	vectors := map[string]compute.Buffer{"theta": l.network.theta}
	if l.others.remembered != nil {
		vectors["remembered"], s.Remembered = l.others.remembered, l.others.over.ids(l.roll)
	}
	for i, name := range l.options.Optimizer.State() {
		vectors[name] = l.network.state[i]
	}
	for name, b := range vectors {
		if f.Arrays[name], err = program.Values[float32](b, l.programs.Total()); err != nil {
			return f, err
		}
	}
	for _, info := range l.roll.infos(l.tasks.pauses()) {
		state := taskState{TaskInfo: info}
		if at, runs := l.tasks.place(info.ID); runs {
			if err := guarded("the stream", func() error { return l.tasks[at].snapshot(&state, f.Arrays) }); err != nil {
				return f, fmt.Errorf("%s: %w", label(info.ID, info.Name), err)
			}
		}
		s.Tasks = append(s.Tasks, state)
	}
	f.JSON, err = json.Marshal(s)
	return f, err
}

// rule returns the state of the method's random draws, and what it remembers; nil if it remembers nothing.
func (l *Learner) rule() (draws []byte, state json.RawMessage, err error) {
	draws, _ = l.rng.MarshalBinary() // of two numbers there is no error
	if m, ok := method.As[method.Stateful](l.options.Method); ok {
		err = guarded(l.byMethod(), func() (err error) { state, err = m.MarshalState(); return err })
	}
	if err == nil && state != nil && !json.Valid(state) {
		err = errors.New("its MarshalState returned something that is not JSON")
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", l.byMethod(), err)
	}
	return draws, state, err
}

// setRule sets what rule returns.
func (l *Learner) setRule(draws []byte, state json.RawMessage) error {
	err := guarded(l.byMethod(), func() error {
		if err := l.rng.UnmarshalBinary(draws); err != nil {
			return err
		}
		if m, ok := method.As[method.Stateful](l.options.Method); ok {
			return m.UnmarshalState(state)
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", l.byMethod(), err)
	}
	return err
}

// snapshot adds to a task's state what there is of a running one.
func (t *attached) snapshot(s *taskState, arrays map[string][]float32) (err error) {
	s.Over = t.over
	stream, ok := t.Stream.(data.Resumable)
	if !ok {
		return errors.New("its stream is not data.Resumable (it lacks State and SetState), so the learner cannot be saved while it runs")
	}
	if s.Stream, err = stream.State(); err != nil {
		return err
	}
	if h, ok := stream.(holder); ok {
		s.Waiting = h.Saved()
	}
	reservoir := t.reservoir.State()
	s.Reservoir = &reservoir
	arrays[taskArray("reservoir", t.id)] = memory.Flatten(t.reservoir.Items())
	if t.ready {
		s.Class, arrays[taskArray("batch", t.id)] = t.current.State()
		s.Repeat = t.current.Repeat
	}
	if t.fetched {
		s.Ahead = &batchState{Repeat: t.spare.Repeat}
		s.Ahead.Class, arrays[taskArray("ahead", t.id)] = t.spare.State()
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
	return l.restoring(attach, func() (State, error) {
		f, err := checkpoint.Load(path)
		return State{f.State, f.Arrays}, err
	})
}

// Restore is like [Learner.Load], for a state that [Learner.State] returned.
func (l *Learner) Restore(s State, attach func(id int) (Task, error)) error {
	return l.restoring(attach, func() (State, error) { return s, nil })
}

// restoring is a call that also a learner serves that was stopped by a failure.
func (l *Learner) restoring(attach func(id int) (Task, error), read func() (State, error)) error {
	if err := l.enter(context.Background(), true); err != nil {
		return err
	}
	defer l.leave()
	s, err := read()
	if err == nil {
		err = l.restore(s, attach)
	}
	if err != nil {
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
	stored, err := memory.Restore(s.Memory, f.Arrays["memory"], f.Arrays["memory/logits"], f.Arrays["memory/origin"], l.options.spec().Width())
	if err == nil {
		err = stored.SetBudget(l.options.Memory.Budget)
	}
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
		return errors.Join(err, l.setRule(draws, rule), l.useModel(old))
	}
	l.failure = guarded("attaching a stream again", func() error { return l.takeUp(s, f.Arrays, stored, attach) })
	l.bell.ring()
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
	return s, m, cmp.Or(s.fits(l.options, m), l.options.checkArrays(f.Arrays, m.Layout()))
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
	r, err := l.options.resizer()
	if err != nil {
		return nil, err
	}
	return r.WithOutputs(outputs)
}

// fits returns an error if the state would mean something else to a learner with these options and model m.
func (s *learnerState) fits(o Options, m model.Model) error {
	now := *o.madeWith(m)
	was := *cmp.Or(s.Made, &now) // old files do not tell, or do not tell the model
	if was.Model == "" {
		now.Model = ""
	}
	if was != now || s.Memory.Config.Policy != o.Memory.Policy {
		return fmt.Errorf("it was saved by a learner with %+v and the memory %q, this one has %+v and %q: make the learner with the same options", was, s.Memory.Config.Policy, now, o.Memory.Policy)
	}
	for i, t := range s.Tasks {
		most := len(t.Class)
		if t.Ahead != nil {
			most = max(most, len(t.Ahead.Class))
		}
		if !t.Ended && most > o.Batch {
			return fmt.Errorf("%s: a batch of %d samples had been fetched from its stream: make the learner with Options.Batch of at least that, not %d", label(t.number(i), t.Name), most, o.Batch)
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

// takeUp replaces the rest of the learner's state by a saved one. After an error the learner is left half restored.
func (l *Learner) takeUp(s learnerState, arrays map[string][]float32, stored *memory.Store, attach func(id int) (Task, error)) error {
	l.version++
	l.memory = stored
	for _, t := range l.tasks {
		t.hush()
		t.free()
	}
	l.roll, l.tasks, l.over = roll{}, nil, map[int]int{}
	l.heads = heads.New(l.options.Increment)
	for i, state := range s.Tasks {
		if err := l.restoreTask(state.number(i), state, arrays, attach); err != nil {
			return fmt.Errorf("%s: %w", label(state.number(i), state.Name), err)
		}
	}
	if used, has := l.heads.Used(), l.options.Model.Outputs(); used > has {
		return tooFew(used, has)
	}
	l.skip(min(s.Last, maxID))
	l.others.free()
	if theta := arrays["remembered"]; theta != nil {
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
	var moments [][]float32
	for _, name := range l.options.Optimizer.State() {
		moments = append(moments, arrays[name])
	}
	copy(l.network.statistics, arrays["statistics"])
	l.steps, l.network.updates, l.prepared = s.Step, s.Update, 0
	return l.network.set(l.options.Backend, arrays["theta"], moments, len(moments))
}

// restoreTask restores a task, with the stream that attach gives it if it had not ended.
func (l *Learner) restoreTask(id int, s taskState, arrays map[string][]float32, attach func(id int) (Task, error)) error {
	if id <= l.roll.last() || id > maxID {
		return fmt.Errorf("it comes after task %d; want ids that count up, at most %d", l.roll.last(), maxID)
	}
	l.skip(id - 1)
	t := &attached{id: id, over: s.Over, samples: new(atomic.Int64)}
	if attach != nil {
		var err error
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
	if err := cmp.Or(l.heads.Add(s.Classes), t.checkNames(nil)); err != nil {
		return err
	}
	t.samples.Store(int64(s.Taken))
	t.paused.Store(s.Paused)
	l.roll.add(t.Task, t.samples)
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
		return errors.New("it was running when the learner was saved: it needs its stream, as a data.Resumable, and its reservoir")
	}
	if err := stream.SetState(s.Stream); err != nil {
		return err
	}
	var err error
	if t.reservoir, err = memory.RestoreReservoir(*s.Reservoir, arrays[taskArray("reservoir", t.id)], l.options.spec().Width()); err != nil {
		return err
	}
	if err := l.prepareBatches(t); err != nil {
		return err
	}
	if s.Class != nil {
		t.ready = true
		err = t.restoreBatch(t.current, s.batchState, arrays[taskArray("batch", t.id)])
	}
	if err == nil && s.Ahead != nil {
		t.fetched = true
		err = t.restoreBatch(t.spare, *s.Ahead, arrays[taskArray("ahead", t.id)])
	}
	return err
}

// restoreBatch restores one fetched batch of a task.
func (t *attached) restoreBatch(b *device.Batch, s batchState, pixels []float32) error {
	err := b.Restore(t.id, s.Class, pixels)
	b.Repeat = s.Repeat
	return err
}
