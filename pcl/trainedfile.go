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

// trainedKey is the text in a safetensors file that describes the network, as JSON (docs/weights.md
// §1).
const trainedKey = "parallelcl"

// meansTensor has the class means, [classes, F].
const meansTensor = "nearest_mean/means"

// trainedVersion is the version of the description; others are refused.
const trainedVersion = 1

// description is a network without its tensors.
type description struct {
	Version int `json:"version"`
	Network
	Image   []int    `json:"image"`   // height, width, channels
	Outputs []Output `json:"outputs"` // follows from the tasks, for readers of the file
	// Rule is "logits", "nearest-mean" or "other".
	Rule  string           `json:"rule"`
	Means *rehearsal.Means `json:"means,omitempty"`
	Sums  *describedSums   `json:"sums,omitempty"`
}

// Save writes the network to a safetensors file, under a temporary name that is then changed to
// path.
func (t *Network) Save(path string) error { return saveNetwork(path, t.Write) }

func saveNetwork(path string, write func(io.Writer) error) error {
	if err := atomicfile.Write(path, write); err != nil {
		return fmt.Errorf("pcl: save network: %w", err)
	}
	return nil
}

// Write writes what [Network.Save] saves.
func (t *Network) Write(w io.Writer) (err error) {
	file, err := t.file()
	if err != nil {
		return err
	}
	return file.Write(w)
}

// file describes the network.
func (t *Network) file() (*safetensors.File, error) {
	outputs, err := t.outputs()
	if err != nil {
		return nil, err
	}
	d := description{
		Version: trainedVersion, Network: *t, Image: []int{t.Image.Height, t.Image.Width, t.Image.Channels},
		Outputs: append([]Output{}, outputs...), Rule: "logits",
	}
	d.Tasks = make([]TaskInfo, len(t.Tasks))
	for i, task := range t.Tasks {
		d.Tasks[i] = TaskInfo{ID: task.number(i), Name: task.Name, Classes: task.Classes}
	}
	f := &safetensors.File{Tensors: slices.Clone(t.Tensors)}
	switch m := t.Means; {
	case t.OtherScorer:
		d.Rule = "other"
		if t.Sums != nil {
			var more []safetensors.Tensor
			more, d.Sums = tensorsOfSums(t.Sums)
			f.Tensors = append(f.Tensors, more...)
		}
	case m != nil:
		d.Rule, d.Means = "nearest-mean", m
		f.Tensors = append(f.Tensors, safetensors.Tensor{
			Name: meansTensor, Dims: []int{len(m.Values), len(m.Values[0])}, Values: slices.Concat(m.Values...),
		})
	}
	text, _ := json.Marshal(d) // of texts and finite numbers there is no error
	f.Metadata = map[string]string{trainedKey: string(text)}
	return f, nil
}

// LoadNetwork reads a network from a safetensors file: one that [Network.Save] wrote, or one of
// another program, of which only the tensors are known. Tensors of a ResNet-18 of torchvision or
// timm get our names ([safetensors.FromTorch]). It does not need the model; whether the tensors fit
// one is checked when they are used.
func LoadNetwork(path string) (t *Network, err error) {
	f, err := safetensors.Load(path)
	if err != nil {
		return nil, fmt.Errorf("pcl: load network: %w", err)
	}
	if t, err = trainedOf(f); err != nil {
		err = fmt.Errorf("pcl: load network: %s: %w", path, err)
	}
	return t, err
}

func trainedOf(f *safetensors.File) (*Network, error) {
	text, described := f.Metadata[trainedKey]
	if !described {
		return &Network{Tensors: safetensors.FromTorch(f).Tensors}, nil
	}
	var d description
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return nil, fmt.Errorf("its description is not readable: %w", err)
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	t := &d.Network
	t.Image, t.OtherScorer, t.Means = Image{d.Image[0], d.Image[1], d.Image[2]}, d.Rule == "other", d.Means
	for i := range t.Tasks {
		t.Tasks[i].ClassNames, t.Tasks[i].Ended = t.namesOf(t.Tasks[i].Classes), true
	}
	outputs, err := t.outputs()
	if err != nil {
		return nil, err
	}
	if !slices.Equal(outputs, d.Outputs) {
		return nil, errors.New("its outputs are not those that its tasks have")
	}
	if err := t.takeTensors(f.Tensors); err != nil {
		return nil, err
	}
	return t, t.takeSums(d.Sums)
}

// check returns an error if the description contradicts itself.
func (d *description) check() error {
	if d.Version != trainedVersion {
		return fmt.Errorf("its description has version %d; want %d", d.Version, trainedVersion)
	}
	if len(d.Image) != 3 || slices.Min(d.Image) < 0 {
		return fmt.Errorf("its description has the image %v; want height, width and channels", d.Image)
	}
	known := slices.Contains([]string{"logits", "nearest-mean", "other"}, d.Rule)
	if !known || (d.Rule == "nearest-mean") != (d.Means != nil) {
		return fmt.Errorf("its rule of prediction %q is not known, or does not fit whether there are means", d.Rule)
	}
	last := 0
	for i, t := range d.Tasks {
		if t.ID <= last || t.ID > maxID {
			return fmt.Errorf("its task %d has the number %d; want numbers that count up from 1", i+1, t.ID)
		}
		last = t.ID
	}
	return nil
}

// takeTensors takes the tensors of a file, and the means out of them.
func (t *Network) takeTensors(all []safetensors.Tensor) error {
	if t.Means == nil {
		t.Tensors = all
		return nil
	}
	for _, x := range all {
		if x.Name != meansTensor {
			t.Tensors = append(t.Tensors, x)
		} else if len(x.Dims) == 2 && x.Dims[1] > 0 {
			t.Means.Values = slices.Collect(slices.Chunk(x.Values, x.Dims[1]))
		}
	}
	return checkMeans(t.Means)
}

// checkMeans returns an error unless there are tasks and a mean for each class. The means of a
// network that has diverged pass: they are not finite, but can be saved.
func checkMeans(m *rehearsal.Means) error {
	if len(m.Tasks) != len(m.Classes) || len(m.Values) != len(m.Classes) {
		return fmt.Errorf("class means: %d classes, tasks of %d and values of %d; want as many of each",
			len(m.Classes), len(m.Tasks), len(m.Values))
	}
	for i, c := range m.Classes {
		if i > 0 && c <= m.Classes[i-1] {
			return fmt.Errorf("the mean of class %d follows another; want each class once, in ascending order", c)
		}
	}
	return nil
}
