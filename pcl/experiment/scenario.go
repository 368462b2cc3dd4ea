package experiment

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// NewScenario returns the scenario of a configuration on a data set: the published one that it names, or one drawn
// from its seeds.
func NewScenario(c Config, set *datasets.Dataset) (s *scenario.Scenario, err error) {
	defer fail.Caught(&err)
	return fail.Or(c.Check()).newScenario(set), nil
}

func (c Checked) newScenario(set *datasets.Dataset) *scenario.Scenario {
	counts := make([]int, len(set.Classes))
	for class, images := range set.ByClass(&set.Train, c.TrainPerClass) {
		counts[class] = len(images)
		fail.When(len(images) == 0, "pcl: %s has no training samples of class %d, %q", set.Name, class, set.Classes[class])
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
	fail.When(err != nil, "pcl: %w", err)
	checkMemory(c.Memory, s)
	for i, t := range s.Tasks {
		fail.When(set.Select(&set.Test, 1, t.Classes...).Len() == 0,
			"pcl: %s has no test samples of task %d, whose classes are %q: the task could not be evaluated", set.Name, i+1, names(set, t.Classes))
	}
	return s
}

// checkMemory fails if the memory is too small to hold a sample of each class of the scenario.
func checkMemory(c memory.Config, s *scenario.Scenario) {
	classes := map[int]bool{}
	for _, t := range s.Tasks {
		for _, class := range t.Classes {
			classes[class] = true
		}
	}
	fail.When(c.Policy == memory.FixedTotal && c.Budget > 0 && c.Budget < len(classes),
		"pcl: a memory of %d samples in total cannot hold the %d classes of the scenario's tasks; raise the budget, or use %q", c.Budget, len(classes), memory.PerClass)
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

// newTask returns the task of a scenario, which may have only a part of the training images of its classes.
func (c Config) newTask(set *datasets.Dataset, id int, t scenario.Task) pcl.Task {
	for _, class := range t.Classes {
		fail.When(class < 0 || class >= len(set.Classes), "task %d has class %d; the data set has classes 0 to %d", id, class, len(set.Classes)-1)
	}
	train := set.Select(&set.Train, c.TrainPerClass, t.Classes...)
	if t.Parts != nil {
		train = train.Keep(func(class, nth int) bool { return t.Part(slices.Index(t.Classes, class)).Has(nth) })
	}
	stream, err := data.NewStream(train, c.Epochs, c.Seed, id)
	fail.When(err != nil, "task %d, classes %v: %w", id, names(set, t.Classes), err)
	return pcl.Task{
		Name: fmt.Sprintf("task %d", id), Classes: t.Classes, ClassNames: names(set, t.Classes),
		Stream: stream, Test: set.Select(&set.Test, c.TestPerClass, t.Classes...),
	}
}
