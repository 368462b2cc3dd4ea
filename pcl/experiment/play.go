package experiment

import (
	"context"
	"fmt"
	"strconv"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// begun returns what is known of the tasks of a scenario before its first step. Those of a joint
// run end together, at its last step.
func (c Config) begun(set *datasets.Dataset, s *scenario.Scenario, last int) (tasks []results.Task) {
	for i, t := range s.Tasks {
		tasks = append(tasks, results.Task{
			ID: i + 1, Classes: t.Classes, Names: names(set, t.Classes), Start: t.Start, End: t.End(), Train: t.Train,
			Test: set.Select(&set.Test, c.TestPerClass, t.Classes...).Len(),
		})
		if c.joint() {
			tasks[i].Start, tasks[i].End = 0, last
		}
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

// newTask returns the task of a scenario, which may have only a part of the training images of its
// classes.
func (c Config) newTask(set *datasets.Dataset, id int, t scenario.Task) (pcl.Task, error) {
	for _, class := range t.Classes {
		if class < 0 || class >= len(set.Classes) {
			return pcl.Task{}, fmt.Errorf("task %d has class %d; the data set has classes 0 to %d",
				id, class, len(set.Classes)-1)
		}
	}
	train := set.Select(&set.Train, c.TrainPerClass, t.Classes...)
	if t.Parts != nil {
		train = train.Keep(t.Has)
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

// task returns a task of the scenario.
func (p *course) task(id int) (pcl.Task, error) {
	return p.config.newTask(p.set, id, p.scenario.Tasks[id-1])
}

// play makes the steps of the scenario, from the learner's current one to the last, and tells after
// of each. Tasks are attached when they arrive. While no stream runs, nothing is done: the next
// update comes when the next task arrives, and the report of each names its step of the timeline.
// It returns false if ctx was cancelled before the end.
func (p *course) play(ctx context.Context, after func(*pcl.StepReport) error) (ended bool, err error) {
	s, l := p.scenario, p.learner
	for now := s.StepAfter(l.Steps()); now <= s.LastStep(); now = s.StepAfter(l.Steps()) {
		if ctx.Err() != nil {
			return false, nil
		}
		for id := l.LastID() + 1; id <= len(s.Tasks) && s.Tasks[id-1].Start == now; id++ {
			task, err := p.task(id)
			if err != nil {
				return false, err
			}
			if _, err := l.Attach(task); err != nil {
				return false, err
			}
		}
		report, err := l.Step()
		if err != nil {
			return false, err
		}
		report.Step = now
		if err := after(report); err != nil {
			return false, err
		}
	}
	return true, nil
}
