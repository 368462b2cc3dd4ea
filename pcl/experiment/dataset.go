package experiment

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/parallelcl/parallelcl/datasets"
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
	return checked.NewScenario(set)
}

// NewScenario is like the function of that name.
func (c Checked) NewScenario(set *datasets.Dataset) (*scenario.Scenario, error) {
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
