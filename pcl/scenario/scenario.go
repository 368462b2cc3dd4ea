// Package scenario says which classes each task has and when its stream runs: label sets,
// timelines, and the JSON form in which they are published, so that anybody can train on the
// same situation (docs/protocol.md §1).
package scenario

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parallelcl/parallelcl/internal/alike"
	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/internal/regular"
)

func checkIncrement(i string) error {
	if i != "task" && i != "class" {
		return fmt.Errorf("increment %q is neither task nor class", i)
	}
	return nil
}

const schema = 1

// Scenario is one situation: a label set and a timeline on a data set. One that was written by hand
// may leave out what is determined elsewhere, the data set, increment, kind, batch and epochs, and
// its tasks the numbers of samples and steps; [Scenario.Fill] adds them.
type Scenario struct {
	Schema    int    `json:"schema"`
	Dataset   string `json:"dataset"`
	Increment string `json:"increment"`
	Kind      string `json:"kind"` // how the streams follow or overlap each other in time; see [Options]
	Batch     int    `json:"batch"`
	Epochs    int    `json:"epochs"`
	LabelSet  uint64 `json:"labelset_seed"`
	Timeline  uint64 `json:"timeline_seed"`
	Tasks     []Task `json:"tasks"`
}

// Task is one stream; its id is its index + 1.
type Task struct {
	Classes []int `json:"classes,omitempty"` // class ids of the data set
	// Names may say which classes these are instead, by their names in the data set;
	// [Scenario.Fill] looks them up.
	Names []string `json:"names,omitempty"`
	// Parts says, for each class, which part of its training samples the task has. Without it the
	// task has all.
	Parts []Part `json:"parts,omitempty"`
	Train int    `json:"train"` // training samples
	Start int    `json:"start"` // first step, from 0; before it there may be steps at which no stream runs
	Steps int    `json:"steps"` // Epochs·⌈Train/Batch⌉
}

// End is the task's last step.
func (t Task) End() int { return t.Start + t.Steps - 1 }

// Options describe a scenario to be generated.
type Options struct {
	Dataset string
	// Increment says which classes a prediction may choose from: "task" predictions know the
	// sample's task and choose among its classes, "class" predictions choose among all classes of
	// the tasks started so far.
	Increment string
	// Kind says how the streams follow or overlap each other in time. Streams that are "parallel"
	// start at random while an earlier one still runs, "serial" ones follow one another (serial
	// continual learning), and those "all_at_once" start together (multi-task learning). [Joint]
	// makes one task of all of them.
	Kind       string
	Tasks      int
	MinClasses int
	MaxClasses int
	// Overlap is the number of classes that each task has in common with the one before it; 0 is
	// none. Tasks that overlap have MinClasses = MaxClasses classes. The training samples of a
	// class are divided among its tasks or, with Duplicate, given to each of them.
	Overlap   int
	Duplicate bool
	Batch     int
	Epochs    int
	LabelSet  uint64 // seed
	Timeline  uint64 // seed
	// ClassNames has the class names of the data set, for a scenario that is filled and whose tasks
	// have Names.
	ClassNames []string
}

// Generate draws a scenario. perClass is the number of training samples of each class.
//
// Over several epochs both durations and starts are multiplied, so that the streams overlap as
// they do in one pass (docs/protocol.md §1.5).
func Generate(o Options, perClass []int) (_ *Scenario, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("scenario: %w", err)
		}
	}()
	if err := checkIncrement(o.Increment); err != nil {
		return nil, err
	}
	if o.Batch < 1 || o.Epochs < 1 {
		return nil, fmt.Errorf("batch %d and epochs %d must be positive", o.Batch, o.Epochs)
	}
	tasks, err := o.labelSets(len(perClass))
	if err != nil {
		return nil, err
	}
	if o.Kind == Joint {
		tasks = []Task{joined(tasks)}
	}
	s := &Scenario{
		Schema: schema, Dataset: o.Dataset, Increment: o.Increment, Kind: o.Kind,
		Batch: o.Batch, Epochs: o.Epochs, LabelSet: o.LabelSet, Timeline: o.Timeline, Tasks: tasks,
	}
	durations := make([]int, len(tasks))
	for t := range s.Tasks {
		if err := s.fill(t, o, perClass); err != nil {
			return nil, err
		}
		durations[t] = s.Tasks[t].Steps / o.Epochs
	}
	first, err := starts(durations, o.Kind, o.Timeline)
	if err != nil {
		return nil, err
	}
	for t, start := range first {
		s.Tasks[t].Start = start * o.Epochs
	}
	return s, nil
}

// labelSets returns tasks with their classes and, if they share classes, which part of these each
// has.
func (o Options) labelSets(classes int) (tasks []Task, err error) {
	if o.Overlap == 0 {
		sets, err := labelSets(classes, o.Tasks, o.MinClasses, o.MaxClasses, o.LabelSet)
		if err != nil {
			return nil, err
		}
		for _, set := range sets {
			tasks = append(tasks, Task{Classes: set})
		}
		return tasks, nil
	}
	if o.MinClasses != o.MaxClasses {
		return nil, fmt.Errorf("tasks that overlap are of equal size, not of %d to %d classes",
			o.MinClasses, o.MaxClasses)
	}
	if tasks, err = blurredSets(classes, o.Tasks, o.MinClasses, o.Overlap, o.LabelSet); err != nil {
		return nil, err
	}
	for t := range tasks {
		if o.Duplicate {
			tasks[t].Parts = nil
		}
	}
	return tasks, nil
}

// Has reports whether the task has the nth training sample of one of its classes, counted from 0.
func (t Task) Has(class, nth int) bool {
	p := t.part(slices.Index(t.Classes, class))
	return p.Of == 0 || nth%p.Of == p.Index
}

// part returns which part of the training samples of its ith class the task has.
func (t Task) part(i int) Part {
	if t.Parts == nil {
		return Part{}
	}
	return t.Parts[i]
}

// samples returns the number of the task's training samples.
func (t Task) samples(perClass []int) (n int) {
	for i, c := range t.Classes {
		n += t.part(i).len(perClass[c])
	}
	return n
}

// LastStep returns ē, the last step of the last stream to end.
func (s *Scenario) LastStep() int {
	last := -1
	for _, t := range s.Tasks {
		last = max(last, t.End())
	}
	return last
}

// MaxStreams returns the largest number of rows a step can have, the memory included.
func (s *Scenario) MaxStreams() int {
	rows := 0
	for _, t := range s.Tasks { // K grows only where a stream starts, or the first one has ended
		rows = max(rows, s.rows(t.Start), s.rows(t.End()+1))
	}
	return rows
}

// rows returns K at a step: the number of running tasks, plus one for the memory once a task has
// finished.
func (s *Scenario) rows(step int) int {
	k, finished := 0, 0
	for _, t := range s.Tasks {
		if t.Start <= step && step <= t.End() {
			k++
		}
		if t.End() < step {
			finished = 1
		}
	}
	return k + finished
}

// TrainingSteps returns at how many steps streams run: LastStep+1 unless the timeline has gaps.
func (s *Scenario) TrainingSteps() int { return s.LastStep() + 1 - s.idle(s.LastStep()+1) }

// StepAfter returns the step of the timeline at which a run makes its next update, after the given
// number of updates. There are none while no stream runs, so that step is later than this number by
// the gaps before it.
func (s *Scenario) StepAfter(updates int) int { return updates + s.idle(updates) }

// idle is the number of steps at which no stream runs, before the step of [Scenario.StepAfter].
func (s *Scenario) idle(updates int) (idle int) {
	reached := 0
	for _, t := range s.Tasks {
		if updates+idle < reached {
			break
		}
		idle += max(0, t.Start-reached)
		reached = max(reached, t.End()+1)
	}
	return idle
}

// Fill returns the scenario with what it leaves out: data set, increment, kind, batch and epochs
// from o, and the numbers of training samples and steps from perClass, the number of training
// samples of each class. It returns an error if what it does not leave out is not the same, except
// for its kind, which its steps already say.
func (s *Scenario) Fill(o Options, perClass []int) (_ *Scenario, err error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("scenario: %w", err)
		}
	}()
	full := *s
	full.Dataset, full.Increment, full.Kind = cmp.Or(s.Dataset, o.Dataset), cmp.Or(s.Increment, o.Increment),
		cmp.Or(s.Kind, o.Kind)
	full.Batch, full.Epochs = cmp.Or(s.Batch, o.Batch), cmp.Or(s.Epochs, o.Epochs)
	if full.Dataset != o.Dataset {
		return nil, fmt.Errorf("it was made for data set %q, the run uses %q", s.Dataset, o.Dataset)
	}
	if full.Increment != o.Increment || full.Batch != o.Batch || full.Epochs != o.Epochs {
		return nil, fmt.Errorf("it is %s-incremental with batch %d and %d epochs; the configuration asks for %s, %d, %d",
			full.Increment, full.Batch, full.Epochs, o.Increment, o.Batch, o.Epochs)
	}
	full.Tasks = slices.Clone(s.Tasks)
	for i := range full.Tasks {
		if err := full.fill(i, o, perClass); err != nil {
			return nil, err
		}
	}
	return &full, nil
}

// fill looks up the classes of a task, and adds its numbers of samples and steps.
func (s *Scenario) fill(i int, o Options, perClass []int) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("task %d: %w", i+1, err)
		}
	}()
	t := &s.Tasks[i]
	if t.Names != nil {
		t.Classes = nil
	}
	for _, name := range t.Names {
		class := slices.Index(o.ClassNames, name)
		if class < 0 {
			return fmt.Errorf("the data set has no class %q; it has %.200q%s", name, o.ClassNames,
				alike.Hint(name, o.ClassNames))
		}
		t.Classes = append(t.Classes, class)
	}
	t.Names = nil
	last := slices.Max(t.Classes)
	if last >= len(perClass) {
		return fmt.Errorf("it has class %d, the data set %d classes, counted from 0", last, len(perClass))
	}
	train := t.samples(perClass)
	steps := (train + o.Batch - 1) / o.Batch * o.Epochs
	if train < 1 {
		return errors.New("it has no training samples")
	}
	if t.Train != 0 && t.Train != train {
		return fmt.Errorf("it has %d training images, here are %d: the data set is not the one it was made for",
			t.Train, train)
	}
	if t.Steps != 0 && t.Steps != steps {
		return fmt.Errorf("it has %d steps; %d samples in batches of %d for %d epochs are %d",
			t.Steps, train, o.Batch, o.Epochs, steps)
	}
	t.Train, t.Steps = train, steps
	return nil
}

// limit bounds every count, so that sums and products of them do not overflow.
const limit = 1 << 31

func outside(counts ...int) bool { return slices.Min(counts) < 0 || slices.Max(counts) > limit }

// Validate returns an error that names what is wrong with a scenario. A field that it leaves out is
// not an error.
func (s *Scenario) Validate() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("scenario: %w", err)
		}
	}()
	if s.Schema != schema {
		return fmt.Errorf("schema %d; this program reads \"schema\": %d", s.Schema, schema)
	}
	if s.Increment != "" {
		if err := checkIncrement(s.Increment); err != nil {
			return err
		}
	}
	if outside(s.Batch, s.Epochs) {
		return fmt.Errorf("batch %d and epochs %d; want up to %d", s.Batch, s.Epochs, limit)
	}
	if len(s.Tasks) == 0 {
		return errors.New("no tasks")
	}
	for i, t := range s.Tasks {
		if err := t.validate(i + 1); err != nil {
			return err
		}
		if i > 0 && t.Start < s.Tasks[i-1].Start {
			return fmt.Errorf("task %d starts before task %d; tasks are ordered by arrival", i+1, i)
		}
	}
	return nil
}

func (t Task) validate(id int) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("task %d: %w", id, err)
		}
	}()
	if (len(t.Classes) == 0) == (len(t.Names) == 0) {
		return errors.New("want its classes or their names, one of the two")
	}
	if slices.Min(append([]int{0}, t.Classes...)) < 0 {
		return fmt.Errorf("it has classes below 0: %.200s", fmt.Sprint(t.Classes))
	}
	if twice(t.Classes) {
		return fmt.Errorf("it lists a class twice: %.200s", fmt.Sprint(t.Classes))
	}
	if twice(t.Names) {
		return fmt.Errorf("it lists a class twice: %.200s", fmt.Sprintf("%q", t.Names))
	}
	if t.Parts != nil && len(t.Parts) != len(t.Classes)+len(t.Names) {
		return fmt.Errorf("it has %d classes and parts of %d", len(t.Classes)+len(t.Names), len(t.Parts))
	}
	if slices.ContainsFunc(t.Parts, Part.bad) {
		return errors.New("it has a part of a class that is not one of several, counted from 0")
	}
	if outside(t.Train, t.Steps, t.Start) {
		return fmt.Errorf("it has %d samples and %d steps from step %d; want up to %d, counted from 0",
			t.Train, t.Steps, t.Start, limit)
	}
	return nil
}

// twice says whether a list has an entry twice.
func twice[T cmp.Ordered](list []T) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(list)))) < len(list)
}

// Save writes the scenario to a JSON file, without what it leaves out.
func (s *Scenario) Save(path string) error {
	data, err := json.MarshalIndent(s, "", " ")
	if err == nil && zeros(data) != nil {
		data, err = jsonv2.Marshal(s, jsonv2.OmitZeroStructFields(true), jsontext.WithIndent(" "))
	}
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, append(data, '\n'))
}

// Load reads a published scenario and checks it.
func Load(path string) (*Scenario, error) {
	data, err := regular.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := new(Scenario)
	if err := cmp.Or(jsonin.Unmarshal(data, s), zeros(data), s.Validate()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// zeros refuses a 0 that stands where a number may be left out: it would count as left out, which
// is not what it says.
func zeros(data []byte) error {
	type count struct {
		Batch  *int `json:"batch"`
		Epochs *int `json:"epochs"`
		Train  *int `json:"train"`
		Steps  *int `json:"steps"`
	}
	var given struct {
		count
		Tasks []count `json:"tasks"`
	}
	if err := jsonin.UnmarshalNewer(data, &given); err != nil {
		return err
	}
	for i, c := range append(given.Tasks, given.count) {
		for key, n := range map[string]*int{"batch": c.Batch, "epochs": c.Epochs, "train": c.Train, "steps": c.Steps} {
			if n != nil && *n == 0 {
				where := ""
				if i < len(given.Tasks) {
					where = fmt.Sprintf("task %d: ", i+1)
				}
				return fmt.Errorf("%s%q is 0; want a number above 0, or leave it out", where, key)
			}
		}
	}
	return nil
}
