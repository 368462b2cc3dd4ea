package experiment

import (
	"context"
	"fmt"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// newLearner returns a learner with the settings of the configuration, for the images of a data set. It has the
// classifier outputs that a scenario needs, and no tasks yet. look says how it is looked at, which changes nothing else.
func (c Checked) newLearner(m *Machine, set *datasets.Dataset, s *scenario.Scenario, look pcl.Options) (*pcl.Learner, error) {
	rule, optimizer, _ := c.rule() // Check found nothing wrong
	net, err := c.network(set, outputs(s, set))
	if err != nil {
		return nil, err
	}
	l, err := pcl.New(context.Background(), pcl.Options{
		Backend: m.backend, Programs: m.programs, Model: net, Method: rule,
		Increment: c.Increment, Shared: c.Shared, Optimizer: optimizer, Batch: c.Batch,
		Memory: c.Memory, Seed: c.Seed, Edit: c.Edit, ExtraUpdate: c.ExtraUpdate,
		Image: pcl.Image{Height: set.Height, Width: set.Width, Channels: set.Channels},
		Trace: look.Trace, Observe: look.Observe,
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
