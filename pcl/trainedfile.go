package pcl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// trainedKey is the text in a safetensors file that describes the network, as JSON (docs/weights.md §1).
const trainedKey = "parallelcl"

// meansTensor has the class means, [classes, F].
const meansTensor = "nearest_mean/means"

// trainedVersion is the version of the description; others are refused.
const trainedVersion = 1

// description is a network without its tensors.
type description struct {
	Version int `json:"version"`
	Trained
	Image   []int    `json:"image"`   // height, width, channels
	Outputs []Output `json:"outputs"` // follows from the tasks, for readers of the file
	// Rule is "logits", "nearest-mean" or "other".
	Rule  string          `json:"rule"`
	Means *describedMeans `json:"means,omitempty"`
}

type describedMeans struct {
	Between bool    `json:"between_tasks_only,omitempty"`
	Classes []int   `json:"classes"` // of the rows of the tensor
	Tasks   [][]int `json:"tasks"`   // of the samples of each class
}

// Save writes the network to a safetensors file, under a temporary name that is then changed to path.
func (t *Trained) Save(path string) error { return saveNetwork(path, t.Write) }

func saveNetwork(path string, write func(io.Writer) error) error {
	if err := atomicfile.Write(path, write); err != nil {
		return fmt.Errorf("pcl: save network: %w", err)
	}
	return nil
}

// Write writes what [Trained.Save] saves.
func (t *Trained) Write(w io.Writer) error {
	f, err := t.file()
	if err != nil {
		return err
	}
	return f.Write(w)
}

// file describes the network.
func (t *Trained) file() (*safetensors.File, error) {
	outputs, err := t.Outputs()
	if err != nil {
		return nil, err
	}
	d := description{
		Version: trainedVersion, Trained: *t, Image: []int{t.Image.Height, t.Image.Width, t.Image.Channels},
		Outputs: append([]Output{}, outputs...), Rule: "logits",
	}
	d.Tasks = make([]TaskInfo, len(t.Tasks))
	for i, task := range t.Tasks {
		d.Tasks[i] = TaskInfo{ID: task.number(i), Name: task.Name, Classes: task.Classes}
	}
	f := &safetensors.File{Tensors: slices.Clone(t.Tensors)}
	switch m := t.Means; {
	case t.OtherRule:
		d.Rule = "other"
	case m != nil:
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
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return nil, fmt.Errorf("its description is not readable: %w", err)
	}
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("its description: %w", err)
	}
	t := &d.Trained
	t.Image, t.OtherRule = Image{d.Image[0], d.Image[1], d.Image[2]}, d.Rule == "other"
	for i := range t.Tasks {
		t.Tasks[i].ClassNames, t.Tasks[i].Ended = t.namesOf(t.Tasks[i].Classes), true
	}
	if outputs, err := t.Outputs(); err != nil {
		return nil, err
	} else if !slices.Equal(outputs, d.Outputs) {
		return nil, errors.New("its outputs are not those that its tasks have")
	}
	return t, t.takeTensors(f.Tensors, d.Means)
}

// check returns an error if the description contradicts itself.
func (d *description) check() error {
	switch {
	case d.Version != trainedVersion:
		return fmt.Errorf("version %d; want %d", d.Version, trainedVersion)
	case len(d.Image) != 3 || slices.Min(d.Image) < 0:
		return fmt.Errorf("image %v; want height, width and channels", d.Image)
	case len(d.Tasks) > 0 && d.Increment.Validate() != nil:
		return d.Increment.Validate()
	case (d.Rule == "nearest-mean") != (d.Means != nil) || !slices.Contains([]string{"logits", "nearest-mean", "other"}, d.Rule):
		return fmt.Errorf("the rule of prediction %q is not known, or does not fit whether there are means", d.Rule)
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
	for _, x := range all {
		if x.Name != meansTensor {
			t.Tensors = append(t.Tensors, x)
		} else if len(x.Dims) == 2 && x.Dims[1] > 0 {
			t.Means.Values = slices.Collect(slices.Chunk(x.Values, x.Dims[1]))
		}
	}
	return t.Means.Check()
}
