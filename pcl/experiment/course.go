package experiment

import (
	"context"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// course is a learner and the scenario that it goes through.
type course struct {
	config   Checked
	machine  *Machine
	set      *datasets.Dataset
	scenario *scenario.Scenario
	learner  *pcl.Learner
}

// newCourse opens what a configuration needs, and returns its scenario with a learner before the first step. Close the learner.
func (m *Machine) newCourse(ctx context.Context, c Checked, look pcl.Options) *course {
	p := &course{config: c, machine: m, set: m.ready(ctx, c.Dataset)}
	p.begin(look)
	return p
}

// begin makes the scenario on the data set, and the learner.
func (p *course) begin(look pcl.Options) {
	p.scenario = p.config.newScenario(p.set)
	p.learner = p.config.newLearner(p.machine, p.set, outputs(p.scenario, p.set), look)
}

// newLearner returns a learner with the settings of the configuration, for the images of a data set. It has so many outputs,
// and no tasks yet. look says how it is looked at, which changes nothing else.
func (c Checked) newLearner(m *Machine, set *datasets.Dataset, outputs int, look pcl.Options) *pcl.Learner {
	rule, optimizer := c.rule()
	l := fail.Or(pcl.New(context.Background(), pcl.Options{
		Backend: m.backend, Programs: m.programs, Model: c.network(set, outputs), Method: rule,
		Increment: c.Increment, Shared: c.Shared, Optimizer: optimizer, Batch: c.Batch,
		Memory: c.Memory, Seed: c.Seed, Edit: c.Edit, ExtraUpdate: c.ExtraUpdate,
		Image: pcl.Image{Height: set.Height, Width: set.Width, Channels: set.Channels},
		Trace: look.Trace, Observe: look.Observe,
	}))
	if err := fail.Tried(func() { c.pretrain(l) }); err != nil {
		l.Close()
		fail.If(err)
	}
	return l
}

// network builds the model for a data set.
func (c Config) network(d *datasets.Dataset, outputs int) model.Model {
	fail.When(c.Model == "resnet18" && d.Vector > 0,
		"pcl: %s has vectors of %d numbers, and a %s takes images: use model = \"mlp\" or \"linear\"", d.Name, d.Vector, c.Model)
	fail.When(c.Edit.On() && !c.Edit.Unclamped && d.Train.Values != nil,
		"pcl: memory editing keeps values in [0,1], which those of %s need not be: set edit.unclamped", d.Name)
	sizes := model.Sizes{
		Height: d.Height, Width: d.Width, Channels: d.Channels, Outputs: outputs,
		Hidden: c.Hidden, Base: c.Base, Release: c.Release,
	}
	if d.Vector > 0 {
		sizes.Height, sizes.Width, sizes.Channels = 1, d.Vector, 1
	}
	m := fail.Or(model.New(c.modelName(), sizes))
	if c.Precision == "bfloat16" {
		m = model.BFloat16(m)
	}
	return m
}

// outputs returns the number of classifier outputs that a scenario on a data set needs. In class-incremental mode this is the
// number of classes of the data set, otherwise the sum of those of the tasks.
func outputs(s *scenario.Scenario, set *datasets.Dataset) (n int) {
	if s.Increment == scenario.ClassIncremental {
		return len(set.Classes)
	}
	for _, t := range s.Tasks {
		n += max(len(t.Classes), len(t.Names)) // by numbers, or by names
	}
	return n
}

// task returns a task of the scenario.
func (p *course) task(id int) (t pcl.Task, err error) {
	defer fail.Caught(&err)
	return p.config.newTask(p.set, id, p.scenario.Tasks[id-1]), nil
}

// play makes the steps of the scenario, from the learner's current one to the last, and tells after of each. Tasks are attached
// when they arrive. While no stream runs, nothing is done: the next update comes when the next task arrives, and the report
// of each names its step of the timeline. It returns false if ctx was cancelled before the end.
func (p *course) play(ctx context.Context, after func(*pcl.StepReport)) (ended bool) {
	s, l := p.scenario, p.learner
	for now := s.At(l.Steps()); now <= s.LastStep(); now = s.At(l.Steps()) {
		if ctx.Err() != nil {
			return false
		}
		for id := l.Arrived() + 1; id <= len(s.Tasks) && s.Tasks[id-1].Start == now; id++ {
			fail.Or(l.Attach(fail.Or(p.task(id))))
		}
		report := fail.Or(l.Step())
		report.Step = now
		after(report)
	}
	return true
}
