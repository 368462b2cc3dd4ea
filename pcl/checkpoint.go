package pcl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/internal/checkpoint"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
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

// madeWith has those options of a learner with which a saved state means something else.
type madeWith struct {
	Increment scenario.Increment `json:"increment"`
	Shared    SharedParams       `json:"shared"`
	Optimizer string             `json:"optimizer"` // its key: the learning rate may differ
	Loss      string             `json:"loss,omitempty"`
	Weighted  bool               `json:"weighted,omitempty"`
	Model     string             `json:"model,omitempty"` // its key; absent in old files
}

func (o Options) madeWith(m model.Model) *madeWith {
	return &madeWith{o.Increment, o.Shared, o.Optimizer.Key(), o.lossKey(), o.Weighted, m.Key()}
}

// reserved returns an error if vectors of an optimiser cannot be arrays of a checkpoint beside the learner's own.
func reserved(names []string) error {
	for i, name := range names {
		kind, _, _ := strings.Cut(name, "/")
		if slices.Contains([]string{"theta", "memory", "statistics", "remembered", "reservoir", "batch", "ahead"}, kind) || slices.Contains(names[:i], name) {
			return fmt.Errorf("Options.Optimizer names a vector of its State %q, which is taken: choose another name", name)
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
	return l.call("save", func() error {
		s, err := l.snapshot()
		if err != nil {
			return err
		}
		return checkpoint.Save(path, checkpoint.File{State: s.JSON, Arrays: s.Arrays})
	})
}

// State returns everything that [Learner.Save] would write, for a caller that stores it elsewhere. Every
// running stream must be [data.Resumable].
func (l *Learner) State() (State, error) { return get(l, "state", l.snapshot) }

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

// snapshot returns the whole state of the learner.
func (l *Learner) snapshot() (f State, err error) {
	s := learnerState{
		Method: l.options.Method.Info().Name, Made: l.options.madeWith(l.options.Model), Step: l.step, Update: l.network.updates, Last: l.roll.last(),
	}
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
	for i, known := range l.roll.tasks {
		if known == nil {
			continue
		}
		state := taskState{ID: i + 1, Samples: int(known.samples.Load()), Name: known.Name, Classes: known.Classes, Names: known.ClassNames, Ended: true}
		if at, runs := place(l.tasks, i+1); runs {
			if err := guarded("the stream", func() error { return l.tasks[at].snapshot(&state, f.Arrays) }); err != nil {
				return f, fmt.Errorf("%s: %w", label(i+1, known.Name), err)
			}
		}
		s.Tasks = append(s.Tasks, state)
	}
	f.JSON, err = json.Marshal(s)
	return f, err
}

// ruleState returns what the method remembers; nil if it remembers nothing.
func (l *Learner) ruleState() (state json.RawMessage, err error) {
	m, ok := method.As[method.Stateful](l.options.Method)
	if !ok {
		return nil, nil
	}
	err = guarded(l.byMethod(), func() (err error) { state, err = m.MarshalState(); return err })
	if err == nil && state != nil && !json.Valid(state) {
		err = errors.New("its MarshalState returned something that is not JSON")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.byMethod(), err)
	}
	return state, nil
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
