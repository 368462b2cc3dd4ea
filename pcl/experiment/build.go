package experiment

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// watch is how a run is looked at while it is made, which does not change it.
type watch struct {
	trace   func(*pcl.Trace) error
	observe bool
}

// newLearner returns a learner with the settings of the configuration, for the images of a data set. It has the
// classifier outputs that a scenario needs, and no tasks yet.
func (c Checked) newLearner(o RunOptions, s *scenario.Scenario, w watch) (*pcl.Learner, error) {
	set := o.Dataset
	rule, optimizer, err := c.rule()
	if err != nil {
		return nil, err
	}
	net, err := c.network(set, outputs(s, set))
	if err != nil {
		return nil, err
	}
	l, err := pcl.New(context.Background(), pcl.Options{
		Backend: o.Backend, Programs: o.Programs, Model: net, Method: rule,
		Increment: c.Increment, Shared: c.Shared, Optimizer: optimizer, Batch: c.Batch,
		Memory: c.Memory, Seed: c.Seed, Edit: c.Edit, ExtraUpdate: c.ExtraUpdate,
		Image: pcl.Image{Height: set.Height, Width: set.Width, Channels: set.Channels},
		Trace: w.trace, Observe: w.observe,
	})
	if err == nil && c.Init != "" {
		if err = c.pretrain(l); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, err
}

// network builds the model for a data set.
func (c Config) network(d *datasets.Dataset, outputs int) (model.Model, error) {
	switch {
	case c.Model == "resnet18" && d.Vector > 0:
		return nil, fmt.Errorf("pcl: %s has vectors of %d numbers, and a %s takes images: use model = \"mlp\" or \"linear\"", d.Name, d.Vector, c.Model)
	case c.Edit.On() && !c.Edit.Unclamped && d.Train.Values != nil:
		return nil, fmt.Errorf("pcl: memory editing keeps values in [0,1], which those of %s need not be: set edit.unclamped", d.Name)
	}
	sizes := model.Sizes{
		Height: d.Height, Width: d.Width, Channels: d.Channels, Outputs: outputs,
		Hidden: c.Hidden, Base: c.Base, Release: c.Release,
	}
	if d.Vector > 0 {
		sizes.Height, sizes.Width, sizes.Channels = 1, d.Vector, 1
	}
	m, err := model.New(c.modelName(), sizes)
	if err == nil && c.Precision == "bfloat16" {
		m = model.BFloat16(m)
	}
	return m, err
}

// outputs returns the number of classifier outputs that a scenario on a data set needs. In class-incremental mode, and
// without a scenario, this is the number of classes of the data set, otherwise the sum of those of the tasks.
func outputs(s *scenario.Scenario, set *datasets.Dataset) int {
	if s == nil || s.Increment == scenario.ClassIncremental {
		return len(set.Classes)
	}
	n := 0
	for _, t := range s.Tasks {
		n += max(len(t.Classes), len(t.Names)) // by numbers, or by names
	}
	return n
}

// isFor returns an error if the configuration asks for another data set.
func (c Config) isFor(set *datasets.Dataset) error {
	if set.Name != c.Dataset {
		return fmt.Errorf("pcl: the configuration asks for data set %q, given %q", c.Dataset, set.Name)
	}
	return nil
}

// tasks returns the tasks of a scenario, by their ids.
func (c Config) tasks(set *datasets.Dataset, s *scenario.Scenario) func(id int) (pcl.Task, error) {
	return func(id int) (pcl.Task, error) {
		if id < 1 || id > len(s.Tasks) {
			return pcl.Task{}, fmt.Errorf("the scenario has %d tasks", len(s.Tasks))
		}
		return c.newTask(set, id, s.Tasks[id-1])
	}
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
	return pcl.Task{Name: fmt.Sprintf("task %d", id), Classes: t.Classes, ClassNames: names(set, t.Classes), Stream: stream, Test: set.Select(&set.Test, c.TestPerClass, t.Classes...)}, nil
}
