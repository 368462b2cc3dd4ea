package experiment

import (
	"context"
	"fmt"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// course is a learner and the scenario that it goes through.
type course struct {
	Checked
	machine  *Machine
	set      *datasets.Dataset
	scenario *scenario.Scenario
	judged   *scenario.Scenario // has the tasks that are tested; see [Config.judged]
	learner  *pcl.Learner
}

// newCourse opens what a configuration needs, and returns its scenario with a learner before the
// first step. Close the learner.
func (m *Machine) newCourse(ctx context.Context, c Checked, look pcl.Options) (*course, error) {
	set, err := m.ready(ctx, c.config)
	if err != nil {
		return nil, err
	}
	p := &course{Checked: c, machine: m, set: set}
	if err := p.begin(look); err != nil {
		return nil, err
	}
	return p, nil
}

// begin makes the scenario on the data set, and the learner.
func (p *course) begin(look pcl.Options) error {
	var err error
	if p.scenario, err = p.config.newScenario(p.set); err != nil {
		return err
	}
	if p.judged, err = p.config.judged(p.set, p.scenario); err != nil {
		return err
	}
	p.learner, err = p.newLearner(p.machine, p.set, outputs(p.scenario, p.set), look)
	return err
}

// NewScenario returns the scenario of a configuration on a data set: the published one that it
// names, or one drawn from its seeds.
func NewScenario(c Config, set *datasets.Dataset) (s *scenario.Scenario, err error) {
	checked, err := c.Check()
	if err != nil {
		return nil, err
	}
	return checked.config.newScenario(set)
}

func (c Config) newScenario(set *datasets.Dataset) (*scenario.Scenario, error) {
	counts := make([]int, len(set.Classes))
	for class, images := range set.ByClass(&set.Train, c.TrainPerClass) {
		counts[class] = len(images)
		if len(images) == 0 {
			return nil, fmt.Errorf("pcl: %s has no training samples of class %d, %q",
				set.Name, class, set.Classes[class])
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
	if err := checkMemory(c.Memory, s); err != nil {
		return nil, err
	}
	for i, t := range s.Tasks {
		if set.Select(&set.Test, 1, t.Classes...).Len() == 0 {
			return nil, fmt.Errorf(
				"pcl: %s has no test samples of task %d, whose classes are %q: the task could not be evaluated",
				set.Name, i+1, names(set, t.Classes))
		}
	}
	return s, nil
}

// checkMemory fails if the memory is too small to hold a sample of each class of the scenario.
func checkMemory(c memory.Config, s *scenario.Scenario) error {
	classes := map[int]bool{}
	for _, t := range s.Tasks {
		for _, class := range t.Classes {
			classes[class] = true
		}
	}
	if c.Policy == "fixed_total" && c.Budget > 0 && c.Budget < len(classes) {
		return fmt.Errorf(
			"pcl: a memory of %d samples in total cannot hold the %d classes of the scenario's tasks; raise the budget, or "+
				"use \"per_class\"", c.Budget, len(classes))
	}
	return nil
}

// newLearner returns a learner with the settings of the configuration, for the images of a data
// set. It has so many outputs, and no tasks yet. look says how it is looked at, which changes
// nothing else.
func (c Checked) newLearner(m *Machine, set *datasets.Dataset, outputs int, look pcl.Options) (*pcl.Learner, error) {
	config := c.config
	if config.joint() {
		config.Increment = "class" // in training; see [course.counts]
	}
	own, err := c.parts()
	if err != nil {
		return nil, err
	}
	if method.IsAnalytic(own.method) { // its learner does not use the network
		config.setModel("linear")
	}
	net, err := config.network(set, outputs)
	if err != nil {
		return nil, err
	}
	augment, err := c.config.augment(set)
	if err != nil {
		return nil, err
	}
	l, err := pcl.New(context.Background(), pcl.Options{
		Backend: m.backend, Programs: m.programs, Model: net, Method: own.method,
		Increment: config.Increment, Shared: config.Shared, Optimizer: own.optimizer, Batch: config.Batch,
		Memory: config.Memory, Seed: config.Seed, Edit: config.Edit, ExtraUpdate: config.ExtraUpdate,
		Image: pcl.Image{Height: set.Height, Width: set.Width, Channels: set.Channels},
		Trace: look.Trace, Observe: look.Observe, Preparing: look.Preparing, Augment: augment,
	})
	if err != nil {
		return nil, err
	}
	if err := config.pretrain(l); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func (c Config) network(d *datasets.Dataset, outputs int) (model.Model, error) {
	if c.Model == "resnet18" && d.Vector > 0 {
		return nil, fmt.Errorf(
			"pcl: %s has vectors of %d numbers, and a %s takes images: use model = \"mlp\" or \"linear\"",
			d.Name, d.Vector, c.Model)
	}
	if c.Edit.Eta > 0 && !c.Edit.Unclamped && d.Train.Values != nil {
		return nil, fmt.Errorf(
			"pcl: memory editing keeps values in [0,1], which those of %s need not be: set edit.unclamped",
			d.Name)
	}
	sizes := model.Sizes{
		Height: d.Height, Width: d.Width, Channels: d.Channels, Outputs: outputs,
		Hidden: c.Hidden, StemChannels: c.StemChannels, Release: c.Release, Stem: c.stem(),
	}
	if d.Vector > 0 {
		sizes.Height, sizes.Width, sizes.Channels = 1, d.Vector, 1
	}
	m, err := model.New(c.modelName(), sizes)
	if err != nil {
		return nil, err
	}
	if c.Precision == "bfloat16" {
		m = model.BFloat16(m)
	}
	return m, nil
}

// outputs returns the number of classifier outputs that a scenario on a data set needs. In
// class-incremental mode this is the number of classes of the data set, otherwise the sum of those
// of the tasks.
func outputs(s *scenario.Scenario, set *datasets.Dataset) (n int) {
	if s.Increment == "class" {
		return len(set.Classes)
	}
	for _, t := range s.Tasks {
		n += max(len(t.Classes), len(t.Names)) // by numbers, or by names
	}
	return n
}
