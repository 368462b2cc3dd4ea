package pcl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// trainedKey is the text in a safetensors file that describes the network, as JSON (docs/weights.md §1).
const trainedKey = "parallelcl"

// meansTensor has the class means, [classes, F].
const meansTensor = "nearest_mean/means"

// trainedVersion is the version of the description; others are refused.
const trainedVersion = 1

type description struct {
	Version   int                `json:"version"`
	Model     string             `json:"model"`
	Method    string             `json:"method,omitempty"`
	Steps     int                `json:"steps"`
	Increment scenario.Increment `json:"increment,omitempty"`
	Image     []int              `json:"image"` // height, width, channels
	Tasks     []describedTask    `json:"tasks"`
	Outputs   []Output           `json:"outputs"` // follows from the tasks, for readers of the file
	Names     map[string]string  `json:"names,omitempty"`
	Scores    Scores             `json:"scores,omitzero"`
	Loss      string             `json:"loss,omitempty"`
	// Rule is "logits", "nearest-mean" or "other".
	Rule  string          `json:"rule"`
	Means *describedMeans `json:"means,omitempty"`
}

type describedTask struct {
	ID      int    `json:"id"`
	Name    string `json:"name,omitempty"`
	Classes []int  `json:"classes"`
}

type describedMeans struct {
	Between bool    `json:"between_tasks_only,omitempty"`
	Classes []int   `json:"classes"` // of the rows of the tensor
	Tasks   [][]int `json:"tasks"`   // of the samples of each class
}

// Save writes the network to a safetensors file, under a temporary name that is then changed to path.
func (t *Trained) Save(path string) error {
	f, err := t.file()
	if err != nil {
		return fmt.Errorf("pcl: save network: %w", err)
	}
	if err := f.Save(path); err != nil {
		return fmt.Errorf("pcl: save network: %w", err)
	}
	return nil
}

// Write writes what [Trained.Save] saves.
func (t *Trained) Write(w io.Writer) error {
	f, err := t.file()
	if err == nil {
		err = f.Write(w)
	}
	if err != nil {
		return fmt.Errorf("pcl: write network: %w", err)
	}
	return nil
}

// file describes the network.
func (t *Trained) file() (*safetensors.File, error) {
	outputs, err := t.Outputs()
	if err != nil {
		return nil, err
	}
	d := description{
		Version: trainedVersion, Model: t.Model, Method: t.Method, Steps: t.Steps, Increment: t.Increment,
		Image: []int{t.Image.Height, t.Image.Width, t.Image.Channels}, Tasks: []describedTask{}, Outputs: append([]Output{}, outputs...), Scores: t.Scores, Loss: t.Loss, Rule: "logits",
	}
	for i, task := range t.Tasks {
		d.Tasks = append(d.Tasks, describedTask{task.number(i), task.Name, task.Classes})
	}
	for class, name := range t.Names {
		if d.Names == nil {
			d.Names = map[string]string{}
		}
		d.Names[strconv.Itoa(class)] = name
	}
	f := &safetensors.File{Tensors: slices.Clone(t.Tensors)}
	switch m := t.Means; {
	case t.OtherRule:
		d.Rule = "other"
	case m != nil:
		if err := m.Check(); err != nil {
			return nil, err
		}
		if !m.Apply() {
			break // predictions are made by logits
		}
		d.Rule, d.Means = "nearest-mean", &describedMeans{m.Between, m.Classes, m.Tasks}
		f.Tensors = append(f.Tensors, safetensors.Tensor{
			Name: meansTensor, Dims: []int{len(m.Values), len(m.Values[0])}, Values: slices.Concat(m.Values...),
		})
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	f.Metadata = map[string]string{trainedKey: string(text)}
	return f, nil
}

// LoadTrained reads a network from a safetensors file: one that [Trained.Save] wrote, or one of another program, of
// which only the tensors are known. It does not need the model; whether the tensors fit one is checked when they are
// used.
func LoadTrained(path string) (*Trained, error) {
	f, err := safetensors.Load(path)
	if err != nil {
		return nil, fmt.Errorf("pcl: load network: %w", err)
	}
	t, err := trainedOf(f)
	if err != nil {
		return nil, fmt.Errorf("pcl: load network: %s: %w", path, err)
	}
	return t, nil
}

func trainedOf(f *safetensors.File) (*Trained, error) {
	text, described := f.Metadata[trainedKey]
	if !described {
		return &Trained{Tensors: f.Tensors}, nil
	}
	var d description
	in := json.NewDecoder(bytes.NewReader([]byte(text)))
	if err := in.Decode(&d); err != nil {
		return nil, fmt.Errorf("its description is not readable: %w", err)
	}
	if d.Version != trainedVersion {
		return nil, fmt.Errorf("its description has version %d; this program reads version %d", d.Version, trainedVersion)
	}
	t := &Trained{Model: d.Model, Method: d.Method, Steps: d.Steps, Increment: d.Increment, Scores: d.Scores, Loss: d.Loss, OtherRule: d.Rule == "other"}
	if err := d.check(); err != nil {
		return nil, err
	}
	t.Image = Image{d.Image[0], d.Image[1], d.Image[2]}
	for _, task := range d.Tasks {
		t.Tasks = append(t.Tasks, TaskInfo{ID: task.ID, Name: task.Name, Classes: task.Classes, Ended: true})
	}
	for class, name := range d.Names {
		c, err := strconv.Atoi(class)
		if err != nil {
			return nil, fmt.Errorf("it names a class %q, which is not a number", class)
		}
		if t.Names == nil {
			t.Names = map[int]string{}
		}
		t.Names[c] = name
	}
	for i := range t.Tasks {
		t.Tasks[i].ClassNames = t.namesOf(t.Tasks[i].Classes)
	}
	outputs, err := t.Outputs()
	if err != nil {
		return nil, err
	}
	if !slices.Equal(outputs, d.Outputs) {
		return nil, errors.New("its outputs are not those that its tasks have")
	}
	return t, t.takeTensors(f.Tensors, d.Means)
}

// check returns an error if the description contradicts itself.
func (d *description) check() error {
	switch {
	case len(d.Image) != 3 || slices.Min(d.Image) < 0:
		return fmt.Errorf("its image is %v; want height, width and channels", d.Image)
	case len(d.Tasks) > 0 && d.Increment.Validate() != nil:
		return fmt.Errorf("its %w", d.Increment.Validate())
	case d.Rule != "logits" && d.Rule != "nearest-mean" && d.Rule != "other":
		return fmt.Errorf("its rule of prediction %q is not known", d.Rule)
	case (d.Rule == "nearest-mean") != (d.Means != nil):
		return fmt.Errorf("its rule of prediction is %q, which does not fit whether it has means", d.Rule)
	}
	for i, t := range d.Tasks {
		if t.ID < 1 || t.ID > maxID || i > 0 && t.ID <= d.Tasks[i-1].ID {
			return fmt.Errorf("task %d has the number %d; want numbers that count up from 1", i+1, t.ID)
		}
	}
	return nil
}

// takeTensors takes the tensors of a file, and the means out of them.
func (t *Trained) takeTensors(all []safetensors.Tensor, about *describedMeans) error {
	if about == nil {
		t.Tensors = all
		return nil
	}
	t.Means = &rehearsal.Means{Between: about.Between, Classes: about.Classes, Tasks: about.Tasks}
	n := len(about.Classes)
	if len(about.Tasks) != n {
		return fmt.Errorf("it has means of %d classes and the tasks of %d", n, len(about.Tasks))
	}
	for _, x := range all {
		if x.Name != meansTensor {
			t.Tensors = append(t.Tensors, x)
			continue
		}
		if len(x.Dims) != 2 || x.Dims[0] != n {
			return fmt.Errorf("tensor %q has the shape %v; want the means of %d classes", x.Name, x.Dims, n)
		}
		for row := range n {
			t.Means.Values = append(t.Means.Values, x.Values[row*x.Dims[1]:(row+1)*x.Dims[1]])
		}
	}
	if len(t.Means.Values) != n {
		return fmt.Errorf("tensor %q is missing", meansTensor)
	}
	return nil
}
