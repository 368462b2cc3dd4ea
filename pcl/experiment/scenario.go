package experiment

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// NewScenario returns the scenario of a configuration on a data set: the published one that it names, or one drawn
// from its seeds.
func NewScenario(c Config, set *datasets.Dataset) (*scenario.Scenario, error) {
	checked, err := c.Check()
	if err != nil {
		return nil, err
	}
	return checked.newScenario(set)
}

// newScenario is like [NewScenario].
func (c Checked) newScenario(set *datasets.Dataset) (*scenario.Scenario, error) {
	counts := make([]int, len(set.Classes))
	for class, images := range set.ByClass(&set.Train, c.TrainPerClass) {
		if counts[class] = len(images); len(images) == 0 {
			return nil, fmt.Errorf("pcl: %s has no training samples of class %d, %q", set.Name, class, set.Classes[class])
		}
	}
	o := scenario.Options{
		Dataset: set.Name, Increment: c.Increment, Kind: c.Kind,
		Tasks: c.Tasks, MinClasses: c.MinClasses, MaxClasses: c.MaxClasses,
		Overlap: c.Overlap, Duplicate: c.Duplicate,
		Batch: c.Batch, Epochs: c.Epochs, LabelSet: c.LabelSet, Timeline: c.Timeline, ClassNames: set.Classes,
	}
	complete := scenario.Generate
	if c.Scenario != nil {
		complete = c.Scenario.Fill
	}
	s, err := complete(o, counts)
	if err != nil {
		return nil, fmt.Errorf("pcl: %w", err)
	}
	return s, cmp.Or(holds(c.Memory, s), tested(s, set))
}

// begun returns what is known of the tasks of a scenario before its first step.
func (c Checked) begun(set *datasets.Dataset, s *scenario.Scenario) (tasks []results.Task) {
	for i, t := range s.Tasks {
		tasks = append(tasks, results.Task{
			ID: i + 1, Classes: t.Classes, Names: names(set, t.Classes), Start: t.Start, End: t.End(), Train: t.Train,
			Test: set.Select(&set.Test, c.TestPerClass, t.Classes...).Len(),
		})
	}
	return tasks
}

// holds returns an error if the memory is too small to hold a sample of each class of the scenario.
func holds(c memory.Config, s *scenario.Scenario) error {
	classes := map[int]bool{}
	for _, t := range s.Tasks {
		for _, class := range t.Classes {
			classes[class] = true
		}
	}
	if c.Policy == memory.FixedTotal && c.Budget > 0 && c.Budget < len(classes) {
		return fmt.Errorf("pcl: a memory of %d samples in total cannot hold the %d classes of the scenario's tasks; raise the budget, or use %q", c.Budget, len(classes), memory.PerClass)
	}
	return nil
}

// tested returns an error if a task has no test samples.
func tested(s *scenario.Scenario, set *datasets.Dataset) error {
	for i, t := range s.Tasks {
		if set.Select(&set.Test, 1, t.Classes...).Len() == 0 {
			return fmt.Errorf("pcl: %s has no test samples of task %d, whose classes are %q: the task could not be evaluated", set.Name, i+1, names(set, t.Classes))
		}
	}
	return nil
}

// names returns the names of classes; one that the set does not have is its number.
func names(set *datasets.Dataset, classes []int) []string {
	out := make([]string, len(classes))
	for i, c := range classes {
		if out[i] = strconv.Itoa(c); c >= 0 && c < len(set.Classes) {
			out[i] = set.Classes[c]
		}
	}
	return out
}

// tasks returns the tasks of a scenario, by their ids.
func (c Config) tasks(set *datasets.Dataset, s *scenario.Scenario) func(id int) (pcl.Task, error) {
	return func(id int) (pcl.Task, error) { return c.newTask(set, id, s.Tasks[id-1]) }
}

// newTask returns the task of a scenario, which may have only a part of the training images of its classes.
func (c Config) newTask(set *datasets.Dataset, id int, t scenario.Task) (pcl.Task, error) {
	for _, class := range t.Classes {
		if class < 0 || class >= len(set.Classes) {
			return pcl.Task{}, fmt.Errorf("task %d has class %d; the data set has classes 0 to %d", id, class, len(set.Classes)-1)
		}
	}
	train := set.Select(&set.Train, c.TrainPerClass, t.Classes...)
	if t.Parts != nil {
		train = train.Keep(func(class, nth int) bool { return t.Part(slices.Index(t.Classes, class)).Has(nth) })
	}
	stream, err := data.NewStream(train, c.Epochs, c.Seed, id)
	if err != nil {
		return pcl.Task{}, fmt.Errorf("task %d, classes %v: %w", id, names(set, t.Classes), err)
	}
	return pcl.Task{
		Name: fmt.Sprintf("task %d", id), Classes: t.Classes, ClassNames: names(set, t.Classes),
		Stream: stream, Test: set.Select(&set.Test, c.TestPerClass, t.Classes...),
	}, nil
}

// play makes the steps of a scenario, from the learner's current step to the last, and yields the report of each.
// It attaches tasks when they arrive. While no stream runs, nothing is done: the next update comes when the next task
// arrives, and the report of each names its step of the timeline. It ends at the first error, which it yields; when ctx
// is cancelled, that is the context's error.
func play(ctx context.Context, s *scenario.Scenario, l *pcl.Learner, task func(id int) (pcl.Task, error)) iter.Seq2[*pcl.StepReport, error] {
	return func(yield func(*pcl.StepReport, error) bool) {
		for now := s.At(l.Steps()); now <= s.LastStep(); now = s.At(l.Steps()) {
			report, err := playStep(ctx, s, now, l, task)
			if !yield(report, err) || err != nil {
				return
			}
		}
	}
}

func playStep(ctx context.Context, s *scenario.Scenario, now int, l *pcl.Learner, task func(id int) (pcl.Task, error)) (*pcl.StepReport, error) {
	err := ctx.Err()
	for id := l.Arrived() + 1; err == nil && id <= len(s.Tasks) && s.Tasks[id-1].Start == now; id++ {
		var t pcl.Task
		if t, err = task(id); err == nil {
			_, err = l.Attach(t)
		}
	}
	if err != nil {
		return nil, err
	}
	report, err := l.Step()
	if err == nil {
		report.Step = now
	}
	return report, err
}
