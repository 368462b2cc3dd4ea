package pcl

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/parallelcl/parallelcl/pcl/analytic"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/onnx"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// Network is a trained network as it is exchanged between programs: its parameters, the statistics
// of batch normalisation, and what its outputs stand for. It has neither the memory nor the state
// of the optimiser; a checkpoint has these ([Learner.Save]). [Learner.Network] makes one,
// [LoadNetwork] reads one from a file, [Learner.SetNetwork] and [NewPredictor] take one.
type Network struct {
	// Model is the [model.Model].Key of the network, and Method the name of the method that trained
	// it. They are empty in a file that another program has written.
	Model  string `json:"model"`
	Method string `json:"method,omitempty"`
	Steps  int    `json:"steps"`
	// Increment is empty, and there are no Tasks, if nothing is known of the outputs.
	Increment string     `json:"increment,omitempty"`
	Image     Image      `json:"-"`
	Tasks     []TaskInfo `json:"tasks"` // in order of arrival, of which ID, Name and Classes count
	// Names has names of classes, such as [Task].ClassNames.
	Names map[int]string `json:"names,omitempty"`
	// Loss is the key of [Options].Loss; empty for losses of classes.
	Loss string `json:"loss,omitempty"`
	// Tensors has a tensor for each entry of Layout.Params and Layout.Stats, under its name.
	Tensors []safetensors.Tensor `json:"-"`
	// Scores says how the classes' scores come from the features.
	Scores model.Scores `json:"scores,omitzero"`
	// Means are set if predictions are made by the nearest mean of the features. OtherScorer says
	// that they are made by another scorer, which cannot be saved.
	Means       *rehearsal.Means `json:"-"`
	OtherScorer bool             `json:"-"`
	// Sums are the classifier of a method that learns from sums, which only ONNX files take: for
	// predictors the scorer is another one.
	Sums *analytic.Map `json:"-"`
	// Backbone, if set, is put in front of the network in ONNX files, which then take pictures.
	Backbone *onnx.Backbone `json:"-"`
}

func scoresOf(l rehearsal.Loss) model.Scores {
	if !l.Cosine {
		return model.Scores{}
	}
	return model.Scores{Cosine: true, Frobenius: l.Frobenius, Sharpness: l.Sharpness}
}

// Output is what an output of the classifier stands for.
type Output struct {
	Task  int    `json:"task,omitempty"` // in class-incremental mode 0: a class has one output, whichever tasks have it
	Class int    `json:"class"`
	Name  string `json:"name,omitempty"` // of the class, if it is known
}

// Outputs says what the outputs of the classifier stand for, in their order. Outputs after these
// belong to no class yet.
//
// It panics if no learner could have had these tasks.
func (t *Network) Outputs() []Output {
	out, err := t.outputs()
	if err != nil {
		panic(err)
	}
	return out
}

func (t *Network) outputs() (out []Output, err error) {
	r, err := t.arrived(1 << 30)
	if err != nil {
		return nil, err
	}
	for i, known := range r.tasks {
		task := i + 1
		if known == nil || t.Increment == "class" && out != nil { // the first task has all classes
			continue
		}
		if t.Increment == "class" {
			task = 0
		}
		for _, c := range r.among(i + 1) {
			out = append(out, Output{task, c, t.Names[c]})
		}
	}
	return out, nil
}

// arrived gives the tasks their outputs, as a learner did to which they were attached one after
// another.
func (t *Network) arrived(outputs int) (registry, error) {
	known := t.Increment == "task" || t.Increment == "class"
	if len(t.Tasks) > 0 && !known {
		return registry{}, fmt.Errorf("increment %q of a network with tasks; want task or class", t.Increment)
	}
	r := registry{increment: t.Increment}
	for i, info := range t.Tasks {
		id := info.number(i)
		r.skip(id - 1)
		head, err := r.next(info.Classes)
		if err != nil {
			return registry{}, fmt.Errorf("%s: %w", label(id, info.Name), err)
		}
		task := Task{Name: info.Name, Classes: slices.Clone(info.Classes), ClassNames: t.namesOf(info.Classes)}
		r.add(task, head, new(atomic.Int64))
	}
	if err := checkOutputs(outputs, r.used); err != nil {
		return registry{}, err
	}
	return r, nil
}

// namesOf returns the names of classes, "" for one that has none; nil if none of them has one.
func (t *Network) namesOf(classes []int) []string {
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = t.Names[c]
	}
	if strings.Join(names, "") == "" {
		return nil
	}
	return names
}
