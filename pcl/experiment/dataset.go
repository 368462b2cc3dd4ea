package experiment

import (
	"fmt"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// NewScenario returns the scenario of a configuration on a data set: the published one that it names, or one drawn
// from its seeds.
func NewScenario(c Config, set *datasets.Dataset) (*scenario.Scenario, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	counts := make([]int, len(set.Classes))
	for class, images := range set.ByClass(&set.Train, c.TrainPerClass) {
		if counts[class] = len(images); len(images) == 0 {
			return nil, fmt.Errorf("pcl: %s has no training samples of class %d, %q", set.Name, class, set.Classes[class])
		}
	}
	if c.Scenario != nil {
		return c.Scenario, fits(c, counts)
	}
	return scenario.Generate(scenario.Options{
		Dataset: set.Name, Increment: c.Increment, Kind: c.Kind,
		Tasks: c.Tasks, MinClasses: c.MinClasses, MaxClasses: c.MaxClasses,
		Overlap: c.Overlap, Duplicate: c.Duplicate,
		Batch: c.Batch, Epochs: c.Epochs, LabelSet: c.LabelSet, Timeline: c.Timeline,
	}, counts)
}

// fits returns an error if a published scenario cannot be used with a data set that has the given numbers of
// training images of each class.
func fits(c Config, counts []int) error {
	s := c.Scenario
	if s.Dataset != c.Dataset {
		return fmt.Errorf("pcl: the scenario was made for data set %q, the run uses %q", s.Dataset, c.Dataset)
	}
	if s.Increment != c.Increment || s.Batch != c.Batch || s.Epochs != c.Epochs {
		return fmt.Errorf("pcl: the scenario is %s-incremental with batch %d and %d epochs; the configuration asks for %s, %d, %d",
			s.Increment, s.Batch, s.Epochs, c.Increment, c.Batch, c.Epochs)
	}
	for i, t := range s.Tasks {
		train := 0
		for k, class := range t.Classes {
			if class >= len(counts) {
				return fmt.Errorf("pcl: task %d of the scenario has class %d, the data set %d classes", i+1, class, len(counts))
			}
			train += t.Part(k).Len(counts[class])
		}
		if train != t.Train {
			return fmt.Errorf("pcl: task %d of the scenario has %d training images, here are %d: the data set is not the one it was made for", i+1, t.Train, train)
		}
	}
	return nil
}

// names returns the names of classes.
func names(set *datasets.Dataset, classes []int) []string {
	out := make([]string, len(classes))
	for i, c := range classes {
		out[i] = set.Classes[c]
	}
	return out
}
