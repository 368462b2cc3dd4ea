package pcl

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// learnerState is all that a learner remembers apart from its arrays: the parameters, the
// optimiser's moments, the pixels of the memory, of the reservoirs and of the batches that were
// fetched already.
type learnerState struct {
	Method string          `json:"method"`
	Step   int             `json:"step"`
	Update int             `json:"update"`
	Rand   []byte          `json:"rand"`
	Rule   json.RawMessage `json:"rule,omitempty"` // the method's state
	Memory memory.State    `json:"memory"`
	Tasks  []taskState     `json:"tasks"`
	// Remembered lists the tasks that were over when θ was last remembered; null if it was not.
	Remembered []int `json:"remembered,omitempty"`
}

type taskState struct {
	Name      string                 `json:"name"`
	Classes   []int                  `json:"classes"`
	Ended     bool                   `json:"ended"`
	Stream    json.RawMessage        `json:"stream,omitempty"` // after the fetched batches
	Reservoir *memory.ReservoirState `json:"reservoir,omitempty"`
	Over      bool                   `json:"over,omitempty"` // the stream has no further batch
	batchState
	// Ahead is a second batch, fetched by a step that was not made.
	Ahead *batchState `json:"ahead,omitempty"`
}

// batchState is a fetched batch without its pixels; without samples where the stream owes one.
type batchState struct {
	Class  []int `json:"class,omitempty"`
	Repeat bool  `json:"repeat,omitempty"`
}

// arrays are named: "theta", "memory", "memory/logits", "memory/origin", "statistics", "remembered", the optimiser's
// slots, and per running task "reservoir/ID", "batch/ID" and, where there is one, "ahead/ID".
func taskArray(kind string, id int) string { return fmt.Sprintf("%s/%d", kind, id) }

// Save writes everything the learner remembers to one file, under a temporary name that is then
// renamed. Every running stream must be [Resumable].
func (l *Learner) Save(path string) error {
	if err := l.enter(false); err != nil {
		return err
	}
	defer l.leave()
	f, err := l.snapshot()
	if err != nil {
		return fmt.Errorf("pcl: save: %w", err)
	}
	return checkpoint.Save(path, f)
}

// Load takes up what [Learner.Save] wrote, so that training goes on as if it had never stopped, on a
// learner made with the same Options. attach returns each task that had arrived, by id, with its
// stream at any position. A file that is cut off, altered or another learner's is refused and changes
// nothing; where a task cannot be attached again, the learner takes no call but another Load.
func (l *Learner) Load(path string, attach func(id int) (Task, error)) error {
	if err := l.enter(true); err != nil {
		return err
	}
	defer l.leave()
	f, err := checkpoint.Load(path)
	if err != nil {
		return fmt.Errorf("pcl: load: %w", err)
	}
	if err := l.restore(f, attach); err != nil {
		return fmt.Errorf("pcl: load %s: %w", path, err)
	}
	return nil
}

// snapshot returns the whole state of the learner. Every running stream must be [Resumable].
func (l *Learner) snapshot() (f checkpoint.File, err error) {
	if err := l.usable(); err != nil {
		return f, err
	}
	defer recovered(&err, "saving a stream")
	s := learnerState{Method: l.options.Method.Info().Name, Step: l.step, Update: l.update}
	f.Arrays = map[string][]float32{}
	if s.Rand, err = l.rng.MarshalBinary(); err != nil {
		return f, err
	}
	if m, ok := method.As[method.Stateful](l.options.Method); ok {
		if s.Rule, err = m.MarshalState(); err != nil {
			return f, fmt.Errorf("method %s: %w", s.Method, err)
		}
	}
	if s.Memory, err = l.memory.State(); err != nil {
		return f, err
	}
	f.Arrays["memory"] = l.memory.Pixels()
	f.Arrays["memory/logits"], f.Arrays["memory/origin"] = l.memory.Extras()
	for _, t := range l.tasks {
		ts, err := t.snapshot(f.Arrays)
		if err != nil {
			return f, fmt.Errorf("%s: %w", label(t.id, t.Name), err)
		}
		s.Tasks = append(s.Tasks, ts)
	}
	if f.Arrays["theta"], err = l.theta32(); err != nil {
		return f, err
	}
	if l.statistics != nil {
		f.Arrays["statistics"] = slices.Clone(l.statistics)
	}
	if l.remembered != nil {
		values := make([]float32, len(f.Arrays["theta"]))
		if err := program.ToHost(values, l.remembered); err != nil {
			return f, err
		}
		f.Arrays["remembered"], s.Remembered = values, l.rememberedTasks
	}
	for i, name := range l.programs.rule.slots {
		values := make([]float32, len(f.Arrays["theta"]))
		if err := program.ToHost(values, l.state[i]); err != nil {
			return f, err
		}
		f.Arrays[name] = values
	}
	f.State, err = json.Marshal(s)
	return f, err
}

func (t *task) snapshot(arrays map[string][]float32) (taskState, error) {
	s := taskState{Name: t.Name, Classes: t.Classes, Ended: t.ended, Over: t.over}
	if t.ended {
		return s, nil
	}
	stream, ok := t.Stream.(Resumable)
	if !ok {
		return s, errors.New("its stream is not Resumable, so the learner cannot be saved while it runs")
	}
	var err error
	if s.Stream, err = stream.State(); err != nil {
		return s, err
	}
	reservoir, err := t.reservoir.State()
	if err != nil {
		return s, err
	}
	s.Reservoir = &reservoir
	arrays[taskArray("reservoir", t.id)] = memory.Flatten(t.reservoir.Items())
	if t.ready {
		s.batchState, arrays[taskArray("batch", t.id)] = t.current.state()
	}
	if t.fetched {
		ahead, pixels := t.spare.state()
		s.Ahead, arrays[taskArray("ahead", t.id)] = &ahead, pixels
	}
	return s, nil
}

func (b *hostBatch) state() (s batchState, pixels []float32) {
	width := len(b.X) / len(b.Class)
	return batchState{Class: slices.Clone(b.Class[:b.N]), Repeat: b.Repeat}, slices.Clone(b.X[:b.N*width])
}

// restore takes up a batch of a task.
func (b *hostBatch) restore(s batchState, task int, pixels []float32) error {
	width := len(b.X) / len(b.Class)
	if n := len(s.Class); n < 1 || n > len(b.Class) || len(pixels) != n*width {
		return fmt.Errorf("a fetched batch of %d samples and %d pixels; want up to %d samples of %d", n, len(pixels), len(b.Class), width)
	}
	b.renew()
	b.N, b.Repeat = len(s.Class), s.Repeat
	copy(b.X, pixels)
	copy(b.Class, s.Class)
	for i := range s.Class {
		b.task[i] = task
	}
	return nil
}

// restore takes up what snapshot saved. attach gives back each task that had arrived, by id, with
// its stream at any position and its test samples.
func (l *Learner) restore(f checkpoint.File, attach func(id int) (Task, error)) error {
	s, err := l.understand(f)
	if err != nil {
		return err
	}
	l.failure = l.takeUp(s, f, attach)
	l.publish()
	return l.failure
}

// understand reads the state of a file that is this learner's.
func (l *Learner) understand(f checkpoint.File) (s learnerState, err error) {
	if err := json.Unmarshal(f.State, &s); err != nil {
		return s, fmt.Errorf("state: %w", err)
	}
	if name := l.options.Method.Info().Name; s.Method != name {
		return s, fmt.Errorf("it was saved by method %s, this run uses %s", s.Method, name)
	}
	total := l.options.Model.Layout().Total
	for _, name := range append([]string{"theta"}, l.programs.rule.slots...) {
		if len(f.Arrays[name]) != total {
			return s, fmt.Errorf("array %q has %d entries, the model %d parameters", name, len(f.Arrays[name]), total)
		}
	}
	if n := len(f.Arrays["statistics"]); n != len(l.statistics) {
		return s, fmt.Errorf("%d running statistics, the model has %d", n, len(l.statistics))
	}
	return s, nil
}

func (l *Learner) takeUp(s learnerState, f checkpoint.File, attach func(id int) (Task, error)) (err error) {
	defer recovered(&err, "attaching a stream again")
	total := l.options.Model.Layout().Total
	if err := l.rng.UnmarshalBinary(s.Rand); err != nil {
		return err
	}
	if m, ok := method.As[method.Stateful](l.options.Method); ok {
		if err := m.UnmarshalState(s.Rule); err != nil {
			return fmt.Errorf("method %s: %w", s.Method, err)
		}
	}
	l.mirror.free()
	if l.memory, err = memory.Restore(s.Memory, f.Arrays["memory"], f.Arrays["memory/logits"], f.Arrays["memory/origin"], l.options.Model.Inputs()); err != nil {
		return err
	}
	if err := l.restoreTasks(s.Tasks, f.Arrays, attach); err != nil {
		return err
	}
	var moments [][]float32
	for _, name := range l.programs.rule.slots {
		moments = append(moments, f.Arrays[name])
	}
	copy(l.statistics, f.Arrays["statistics"])
	program.Free(l.remembered, l.aheadTheta, l.apart[0], l.apart[1])
	l.remembered, l.rememberedTasks, l.aheadTheta, l.apart = nil, nil, nil, [2]compute.Buffer{}
	if theta := f.Arrays["remembered"]; theta != nil {
		if len(theta) != total {
			return fmt.Errorf("remembered parameters: %d entries, the model has %d", len(theta), total)
		}
		if err := l.setRemembered(theta, s.Remembered); err != nil {
			return err
		}
	}
	l.step, l.update, l.prepared = s.Step, s.Update, 0
	return l.setParameters(f.Arrays["theta"], moments)
}

func (l *Learner) restoreTasks(states []taskState, arrays map[string][]float32, attach func(id int) (Task, error)) error {
	for _, t := range l.tasks {
		t.free()
	}
	l.tasks = nil
	l.slots = newSlots(l.options.Increment, l.options.Model.Outputs())
	for i, s := range states {
		id := i + 1
		given, err := attach(id)
		if err != nil {
			return fmt.Errorf("%s: %w", label(id, s.Name), err)
		}
		if !slices.Equal(given.Classes, s.Classes) {
			return fmt.Errorf("task %d had classes %v, now %v", id, s.Classes, given.Classes)
		}
		if err := l.slots.add(id, s.Classes); err != nil {
			return fmt.Errorf("%s: %w", label(id, s.Name), err)
		}
		t := &task{Task: given, id: id, ended: s.Ended, over: s.Over}
		t.Classes = s.Classes
		l.tasks = append(l.tasks, t)
		if s.Ended {
			t.Stream = nil
		} else if err := l.restoreStream(t, s, arrays); err != nil {
			return fmt.Errorf("%s: %w", label(id, s.Name), err)
		}
	}
	return nil
}

func (l *Learner) restoreStream(t *task, s taskState, arrays map[string][]float32) error {
	stream, ok := t.Stream.(Resumable)
	if !ok {
		return errors.New("its stream is not Resumable")
	}
	if err := stream.SetState(s.Stream); err != nil {
		return err
	}
	if s.Reservoir == nil {
		return errors.New("its reservoir is missing")
	}
	var err error
	if t.reservoir, err = memory.RestoreReservoir(*s.Reservoir, arrays[taskArray("reservoir", t.id)], l.options.Model.Inputs()); err != nil {
		return err
	}
	if err := l.prepareBatches(t); err != nil {
		return err
	}
	if s.Class != nil {
		if err := t.current.restore(s.batchState, t.id, arrays[taskArray("batch", t.id)]); err != nil {
			return err
		}
	}
	if s.Ahead != nil {
		if err := t.spare.restore(*s.Ahead, t.id, arrays[taskArray("ahead", t.id)]); err != nil {
			return err
		}
	}
	t.ready, t.fetched = s.Class != nil, s.Ahead != nil
	return nil
}
