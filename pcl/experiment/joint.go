package experiment

import (
	"slices"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// A joint run trains on the samples of all tasks as one stream, in which all classes compete, and
// is tested on each task as other runs are (docs/protocol.md §3.6).

func (c Config) joint() bool { return c.Kind == scenario.Joint }

// judged returns the scenario with the tasks that a run on a scenario is tested on: the same, or,
// for a joint run, the one of whose tasks the stream was made.
func (c Config) judged(set *datasets.Dataset, s *scenario.Scenario) (*scenario.Scenario, error) {
	if !c.joint() || c.Scenario != nil {
		return s, nil
	}
	c.Kind = "all_at_once"
	return c.newScenario(set)
}

// AllAtOnce returns the configuration of a joint run to compare with the runs of c: the plain mean
// trains the same network in so many passes over the samples of all tasks, without a memory.
func (c Config) AllAtOnce(passes int) Config {
	c = c.clone()
	c.Kind, c.Method, c.Params, c.Epochs, c.Beside = scenario.Joint, "avggrad", nil, c.Epochs*passes, true
	c.Memory.Budget, c.Edit, c.ExtraUpdate, c.EvalEvery = 0, pcl.Edit{}, false, 0
	return c
}

// BesideFeatures returns the configuration of a run on features to compare with the runs of c:
// exact linear discriminant analysis, in the same situation.
func (c Config) BesideFeatures(text string) Config {
	c = c.OnFeatures(text)
	c.Method, c.Params, c.Beside = "lda", nil, true
	c.Init, c.InitFile, c.Augment, c.Precision, c.Shared = "", "", "", "", "shared"
	c.Memory.Budget, c.Edit, c.ExtraUpdate, c.EvalEvery = 0, pcl.Edit{}, false, 0
	return c
}

// ids are those of the tasks that are tested.
func (r *runner) ids() (all []int) {
	for i := range r.judged.Tasks {
		all = append(all, i+1)
	}
	return all
}

// counts are those of the test samples of a task, by class. The one task of a joint run's learner
// has all classes: of those, the ones compete that would if the tasks had come apart.
func (r *runner) counts(id int) ([]pcl.ClassCount, error) {
	if !r.config.joint() {
		return r.learner.EvaluateByClass(id)
	}
	task := r.judged.Tasks[id-1]
	var among []int // all
	if r.config.Increment == "task" {
		among = task.Classes
	}
	p, err := r.learner.Snapshot()
	if err != nil {
		return nil, err
	}
	defer p.Close()
	out := make([]pcl.ClassCount, len(task.Classes))
	for i, class := range task.Classes {
		out[i].Class = class
	}
	test := r.set.Select(&r.set.Test, r.config.TestPerClass, task.Classes...)
	for from := range (test.Len() + predicted - 1) / predicted {
		var x []float32
		var at []int // by sample, the place of its class
		for i := from * predicted; i < min((from+1)*predicted, test.Len()); i++ {
			one := make([]float32, r.set.ImageSize())
			at = append(at, slices.Index(task.Classes, test.Sample(i, one)))
			x = append(x, one...)
		}
		found, err := p.Predict(x, among...)
		if err != nil {
			return nil, err
		}
		for i, one := range found {
			count := &out[at[i]]
			if count.Test++; one.Class == count.Class {
				count.Right++
			}
		}
	}
	return out, nil
}

// predicted is how many samples are predicted together.
const predicted = 256
