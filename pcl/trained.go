package pcl

import (
	"fmt"
	"maps"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/internal/heads"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// Trained is a trained network as it is exchanged between programs: its parameters, the statistics of batch
// normalisation, and what its outputs stand for. It has neither the memory nor the state of the optimiser; a checkpoint
// has these ([Learner.Save]). [Learner.Trained] and [Predictor.Trained] make one, [LoadTrained] reads one from a file,
// [Learner.SetTrained] and [NewPredictor] take one.
type Trained struct {
	// Model is the [model.Model].Key of the network, and Method the name of the method that trained it. They are empty
	// in a file that another program has written.
	Model  string
	Method string
	Steps  int
	// Increment is empty, and there are no Tasks, if nothing is known of the outputs.
	Increment scenario.Increment
	Image     Image
	Tasks     []TaskInfo // in order of arrival, of which ID, Name and Classes count
	// Names has names of classes, such as [Task].ClassNames.
	Names map[int]string
	// Loss is the key of [Options].Loss; empty for losses of classes.
	Loss string
	// Tensors has a tensor for each entry of Layout.Params and Layout.Stats, under its name.
	Tensors []safetensors.Tensor
	// Scores says how the classes' scores come from the features.
	Scores Scores
	// Means are set if predictions are made by the nearest mean of the features. OtherRule says that they are made by
	// another rule, which cannot be saved.
	Means     *rehearsal.Means
	OtherRule bool
}

// Scores says how the scores of the classes come from the features and the classifier's weights. The zero value stands
// for logits: weights times features, and bias. With Cosine, it is Sharpness times the cosine of the angle between the
// features and an output's weights; with Frobenius, the weights are divided by the norm of the whole matrix.
type Scores struct {
	Cosine    bool    `json:"cosine,omitempty"`
	Frobenius bool    `json:"frobenius,omitempty"`
	Sharpness float64 `json:"sharpness,omitempty"`
}

func scoresOf(l rehearsal.Loss) Scores {
	if !l.Cosine {
		return Scores{}
	}
	return Scores{Cosine: true, Frobenius: l.Frobenius, Sharpness: l.Sharpness}
}

func (s Scores) asLoss() rehearsal.Loss {
	return rehearsal.Loss{Cosine: s.Cosine, Frobenius: s.Frobenius, Sharpness: s.Sharpness}
}

// Output is what an output of the classifier stands for.
type Output struct {
	Task  int    `json:"task,omitempty"` // in class-incremental mode 0: a class has one output, whichever tasks have it
	Class int    `json:"class"`
	Name  string `json:"name,omitempty"` // of the class, if it is known
}

// Outputs says what the outputs of the classifier stand for, in their order. Outputs after these belong to no class
// yet.
func (t *Trained) Outputs() ([]Output, error) {
	h, err := headsOf(t.Increment, t.Tasks, 1<<30)
	if err != nil || len(t.Tasks) == 0 {
		return nil, err
	}
	if t.Increment == scenario.ClassIncremental {
		return t.named(nil, 0, h.Among(1)), nil
	}
	var out []Output
	for i, task := range t.Tasks {
		out = t.named(out, task.number(i), h.Among(task.number(i)))
	}
	return out, nil
}

func (t *Trained) named(out []Output, task int, classes []int) []Output {
	for _, c := range classes {
		out = append(out, Output{task, c, t.Names[c]})
	}
	return out
}

// headsOf gives tasks their outputs, as a learner did to which they were attached one after another.
func headsOf(increment scenario.Increment, tasks []TaskInfo, limit int) (*heads.Heads, error) {
	h := heads.New(increment, limit)
	for i, t := range tasks {
		h.Skip(t.number(i) - 1)
		if err := h.Add(t.Classes); err != nil {
			return nil, fmt.Errorf("%s: %w", label(t.number(i), t.Name), err)
		}
	}
	return h, nil
}

// Trained returns the network with which the predictor predicts.
func (p *Predictor) Trained() (*Trained, error) {
	p.use.RLock()
	defer p.use.RUnlock()
	if p.closed {
		return nil, ErrClosed
	}
	about := p.kit.about
	theta, err := program.Values[float32](p.theta, about.model.Layout().Total)
	statistics := []float32(nil)
	if err == nil && p.statistics != nil {
		statistics, err = program.Values[float32](p.statistics, about.model.Layout().StatsTotal)
	}
	if err != nil {
		return nil, fmt.Errorf("pcl: trained network: %w", err)
	}
	return about.trained(p.steps, p.roll, p.Tasks(), p.rule, theta, statistics), nil
}

// trained puts a network together.
func (a about) trained(steps int, r roll, tasks []TaskInfo, rule rehearsal.Rule, theta, statistics []float32) *Trained {
	t := &Trained{
		Model: a.model.Key(), Method: a.method, Steps: steps, Increment: a.increment, Image: a.image, Tasks: tasks,
		Names: maps.Clone(r.names), Loss: a.lossKey, Scores: scoresOf(a.scores), Tensors: tensors(a.model.Layout(), theta, statistics),
	}
	switch m := rehearsal.MeansOf(rule); {
	case m == nil:
		t.OtherRule = rule != nil
	case m.Apply() && !(m.Between && a.increment == scenario.TaskIncremental):
		t.Means = m
	}
	return t
}

// namesOf returns the names of classes, "" for one that has none; nil if none of them has one.
func (t *Trained) namesOf(classes []int) []string {
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = t.Names[c]
	}
	if strings.Join(names, "") == "" {
		return nil
	}
	return names
}
