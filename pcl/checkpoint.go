package pcl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/regular"
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// learnerState is everything that a learner remembers except its arrays. The arrays are the
// parameters, the optimiser's moments, and the pixels of the memory, of the reservoirs and of the
// batches already fetched.
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
	// Last is the highest id that was given or skipped; absent in old files, where it is that of
	// the last task.
	Last int `json:"last,omitempty"`
	// Remembered lists the tasks that had ended when the method last remembered θ; absent if it
	// never did.
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

// batchState is a fetched batch without its pixels. It has no samples if the stream has yet to
// deliver one.
type batchState struct {
	Class  []int `json:"class,omitempty"`
	Repeat bool  `json:"repeat,omitempty"`
}

// taskArray names an array of one task. A checkpoint has the arrays "theta", "memory",
// "memory/logits", "memory/origin", "statistics", "remembered" and those of the optimiser; for each
// running task it has "reservoir/ID" and, where there are such batches, "batch/ID" and "ahead/ID".
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

// ErrDamaged marks the error of [LoadState] and [Learner.Load] for a file that is not a complete,
// unaltered checkpoint.
var ErrDamaged = errors.New("damaged checkpoint")

// State is everything that a learner remembers, as [Learner.State] returns it.
type State struct {
	JSON   json.RawMessage
	Arrays map[string][]float32
}

// Save writes everything that the learner remembers to one file. The file is written under a
// temporary name and then renamed, so that path never holds half a checkpoint. Every running stream
// must be [data.Resumable].
func (l *Learner) Save(path string) error { return l.SaveContext(context.Background(), path) }

// SaveContext is [Learner.Save], but gives up, and returns the error of ctx, when ctx ends before
// its turn.
func (l *Learner) SaveContext(ctx context.Context, path string) error {
	return l.call(ctx, "save", func() error {
		snapshot, err := l.snapshot()
		if err != nil {
			return err
		}
		return snapshot.Save(path)
	})
}

// State returns everything that [Learner.Save] would write, for a caller that stores it elsewhere.
// Every running stream must be [data.Resumable].
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

// Tasks tells which tasks the state has, in order of arrival, so that whoever calls
// [Learner.Restore] knows what to attach.
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

// Steps says how many steps the learner had made.
func (s State) Steps() (int, error) {
	var l learnerState
	if err := json.Unmarshal(s.JSON, &l); err != nil {
		return 0, fmt.Errorf("pcl: saved steps: %w", err)
	}
	return l.Step, nil
}

// Save writes the state to a file, as [Learner.Save] does.
func (s State) Save(path string) error {
	return checkpoint.Save(path, s.JSON, s.Arrays)
}

// snapshot returns the whole state of the learner.
func (l *Learner) snapshot() (State, error) {
	s := learnerState{
		Method: l.method.Info.Name, Made: l.options.madeWith(l.options.Model), Step: l.steps,
		Update: l.network.updates, Last: l.tasks.registry.last(),
	}
	var arrays map[string][]float32
	s.Memory, arrays = l.memory.State()
	if l.options.Grow {
		s.Outputs = l.options.Model.Outputs()
	}
	var err error
	if s.Rand, s.Rule, err = methodState(l.method, l.rng); err != nil {
		return State{}, err
	}
	if err := l.network.snapshot(arrays); err != nil {
		return State{}, err
	}
	if x := &l.network.auxiliary; x.remembered != nil {
		s.Remembered = x.ended.ids(l.tasks.registry)
	}
	if s.Tasks, err = l.tasks.snapshot(arrays); err != nil {
		return State{}, err
	}
	text, err := json.Marshal(s)
	return State{text, arrays}, err
}

// snapshot adds the network's arrays.
func (n *network) snapshot(arrays map[string][]float32) error {
	if n.statistics != nil {
		arrays["statistics"] = slices.Clone(n.statistics)
	}
	vectors := map[string]compute.Buffer{"theta": n.theta}
	if b := n.auxiliary.remembered; b != nil {
		vectors["remembered"] = b
	}
	for i, name := range n.options.Optimizer.State() {
		vectors[name] = n.state[i]
	}
	for name, b := range vectors {
		values, err := n.read(b)
		if err != nil {
			return err
		}
		arrays[name] = slices.Clone(values)
	}
	return nil
}

// snapshot returns the state of all tasks, and adds the arrays of the running ones.
func (t *tasks) snapshot(arrays map[string][]float32) (states []taskState, err error) {
	for _, info := range t.registry.infos(t.running) {
		state := taskState{TaskInfo: info}
		if a := t.running.get(info.ID); a != nil {
			if err := a.snapshot(&state, arrays); err != nil {
				return nil, err
			}
		}
		states = append(states, state)
	}
	return states, nil
}

// methodState returns the state of the method's random draws, and what it remembers; nil if it
// remembers nothing.
func methodState(started *method.Started, rng *seed.Source) (draws []byte, state json.RawMessage, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", byMethod(started), err)
		}
	}()
	defer recovered(&err, "it panicked")
	draws, _ = rng.MarshalBinary() // of two numbers there is no error
	if m := started.Stateful; m != nil {
		if state, err = m.MarshalState(); err != nil {
			return nil, nil, err
		}
		if state != nil && !json.Valid(state) {
			return nil, nil, errors.New("its MarshalState returned something that is not JSON")
		}
	}
	return draws, state, nil
}

// setMethodState sets what methodState returned.
func setMethodState(started *method.Started, rng *seed.Source, draws []byte, state json.RawMessage) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", byMethod(started), err)
		}
	}()
	defer recovered(&err, "it panicked")
	if err := rng.UnmarshalBinary(draws); err != nil {
		return err
	}
	if m := started.Stateful; m != nil {
		if err := m.UnmarshalState(state); err != nil {
			return err
		}
	}
	return nil
}

// snapshot adds the state of a running task: its stream, its reservoir and its fetched batches.
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
			"its stream is not data.Resumable (it lacks State and SetState), " +
				"so the learner cannot be saved while it runs")
	}
	if s.Stream, err = stream.State(); err != nil {
		return err
	}
	if h, ok := stream.(holder); ok {
		s.Waiting = h.Saved()
	}
	s.Over = t.exhausted
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
