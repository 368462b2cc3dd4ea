package grid

import (
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// kinds returns two hashes by which cells are alike. Cells of the same kind differ in their label set, timeline and
// seed alone, and take about the same time. Cells of the same wider kind may also have different methods, and what
// they take is no more than a guess.
func kinds(c experiment.Config, how Compute) (kind, wider string, err error) {
	c.LabelSet, c.Timeline, c.Seed, c.Scenario = 0, 0, 0, nil
	if kind, err = hash([]any{c, how}); err != nil {
		return "", "", err
	}
	wider, err = hash([]any{c.Dataset, c.TrainPerClass, c.TestPerClass, c.Model, c.Hidden, c.Base, c.Release, c.Precision, c.Batch, c.Epochs, c.Kind, how})
	return kind, wider, err
}
