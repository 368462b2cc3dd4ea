package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// Images returns the images of some classes of a split, class by class in the given order, at most limit of
// each; 0 is no limit.
func Images(set *datasets.Dataset, split *datasets.Split, limit int, classes ...int) Samples {
	s := &images{set: set, split: split}
	perClass := byClass(set, split, limit)
	for _, c := range classes {
		if c >= 0 && c < len(perClass) {
			s.indices = append(s.indices, perClass[c]...)
		}
	}
	return s
}

// images is a selection of a data set's images.
type images struct {
	set     *datasets.Dataset
	split   *datasets.Split
	indices []int
}

func (s *images) Len() int { return len(s.indices) }

func (s *images) Sample(i int, x []float32) (class int) {
	at := s.indices[i]
	for p, v := range s.set.Image(s.split, at) {
		x[p] = unit[v]
	}
	return int(s.split.Labels[at])
}

// Table and Row make the images [TableSamples].
func (s *images) Table() []uint8 { return s.split.Pixels }
func (s *images) Row(i int) int  { return s.indices[i] }

// unit maps a byte to [0,1].
var unit = func() (table [256]float32) {
	for i := range table {
		table[i] = float32(i) / 255
	}
	return table
}()

// byClass lists the images of each class, at most limit of them; 0 is no limit.
func byClass(set *datasets.Dataset, split *datasets.Split, limit int) [][]int {
	out := make([][]int, len(set.Classes))
	for i, label := range split.Labels {
		if limit == 0 || len(out[label]) < limit {
			out[label] = append(out[label], i)
		}
	}
	return out
}

// NewScenario returns the situation that a configuration asks for on an opened data set: the
// published one that it names, or one drawn from its seeds.
func NewScenario(c Config, set *datasets.Dataset) (*scenario.Scenario, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	counts := make([]int, len(set.Classes))
	for class, images := range byClass(set, &set.Train, c.TrainPerClass) {
		if counts[class] = len(images); len(images) == 0 {
			return nil, fmt.Errorf("pcl: %s has no training images of class %d", set.Name, class)
		}
	}
	if c.Scenario != nil {
		return c.Scenario, fits(c, counts)
	}
	return scenario.Generate(scenario.Options{
		Dataset: set.Name, Increment: c.Increment, Kind: c.Kind,
		Tasks: c.Tasks, MinClasses: c.MinClasses, MaxClasses: c.MaxClasses,
		Batch: c.Batch, Epochs: c.Epochs, LabelSet: c.LabelSet, Timeline: c.Timeline,
	}, counts)
}

// fits says why a published scenario cannot be played on a data set with the given number of
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
		for _, class := range t.Classes {
			if class >= len(counts) {
				return fmt.Errorf("pcl: task %d of the scenario has class %d, the data set %d classes", i+1, class, len(counts))
			}
			train += counts[class]
		}
		if train != t.Train {
			return fmt.Errorf("pcl: task %d of the scenario has %d training images, here are %d: the data set is not the one it was made for", i+1, t.Train, train)
		}
	}
	return nil
}
