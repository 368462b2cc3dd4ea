package pcl

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/fail"
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
	Rule  string           `json:"rule"`
	Means *rehearsal.Means `json:"means,omitempty"`
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
func (t *Trained) Write(w io.Writer) (err error) {
	defer fail.Caught(&err)
	return t.file().Write(w)
}

// file describes the network.
func (t *Trained) file() *safetensors.File {
	d := description{
		Version: trainedVersion, Trained: *t, Image: []int{t.Image.Height, t.Image.Width, t.Image.Channels},
		Outputs: append([]Output{}, t.Outputs()...), Rule: "logits",
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
		d.Rule, d.Means = "nearest-mean", m
		f.Tensors = append(f.Tensors, safetensors.Tensor{
			Name: meansTensor, Dims: []int{len(m.Values), len(m.Values[0])}, Values: slices.Concat(m.Values...),
		})
	}
	text, _ := json.Marshal(d) // of texts and finite numbers there is no error
	f.Metadata = map[string]string{trainedKey: string(text)}
	return f
}

// LoadTrained reads a network from a safetensors file: one that [Trained.Save] wrote, or one of another program, of
// which only the tensors are known. It does not need the model; whether the tensors fit one is checked when they are
// used.
func LoadTrained(path string) (t *Trained, err error) {
	f, err := safetensors.Load(path)
	if err != nil {
		return nil, fmt.Errorf("pcl: load network: %w", err)
	}
	if err = fail.Tried(func() { t = trainedOf(f) }); err != nil {
		err = fmt.Errorf("pcl: load network: %s: %w", path, err)
	}
	return t, err
}

func trainedOf(f *safetensors.File) *Trained {
	text, described := f.Metadata[trainedKey]
	if !described {
		return &Trained{Tensors: f.Tensors}
	}
	var d description
	err := json.Unmarshal([]byte(text), &d)
	fail.When(err != nil, "its description is not readable: %w", err)
	d.check()
	t := &d.Trained
	t.Image, t.OtherRule, t.Means = Image{d.Image[0], d.Image[1], d.Image[2]}, d.Rule == "other", d.Means
	for i := range t.Tasks {
		t.Tasks[i].ClassNames, t.Tasks[i].Ended = t.namesOf(t.Tasks[i].Classes), true
	}
	fail.When(!slices.Equal(t.Outputs(), d.Outputs), "its outputs are not those that its tasks have")
	t.takeTensors(f.Tensors)
	return t
}

// check ends the work if the description contradicts itself.
func (d *description) check() {
	fail.When(d.Version != trainedVersion, "its description has version %d; want %d", d.Version, trainedVersion)
	fail.When(len(d.Image) != 3 || slices.Min(d.Image) < 0, "its description has the image %v; want height, width and channels", d.Image)
	known := slices.Contains([]string{"logits", "nearest-mean", "other"}, d.Rule)
	fail.When(!known || (d.Rule == "nearest-mean") != (d.Means != nil), "its rule of prediction %q is not known, or does not fit whether there are means", d.Rule)
	last := 0
	for i, t := range d.Tasks {
		fail.When(t.ID <= last || t.ID > maxID, "its task %d has the number %d; want numbers that count up from 1", i+1, t.ID)
		last = t.ID
	}
}

// takeTensors takes the tensors of a file, and the means out of them.
func (t *Trained) takeTensors(all []safetensors.Tensor) {
	if t.Means == nil {
		t.Tensors = all
		return
	}
	for _, x := range all {
		if x.Name != meansTensor {
			t.Tensors = append(t.Tensors, x)
		} else if len(x.Dims) == 2 && x.Dims[1] > 0 {
			t.Means.Values = slices.Collect(slices.Chunk(x.Values, x.Dims[1]))
		}
	}
	checkMeans(t.Means)
}

// checkMeans ends the work unless there are tasks and a mean for each class. The means of a network that has diverged pass: they
// are not finite, but can be saved.
func checkMeans(m *rehearsal.Means) {
	fail.When(len(m.Tasks) != len(m.Classes) || len(m.Values) != len(m.Classes),
		"class means: %d classes, tasks of %d and values of %d; want as many of each", len(m.Classes), len(m.Tasks), len(m.Values))
	for i, c := range m.Classes {
		fail.When(i > 0 && c <= m.Classes[i-1], "the mean of class %d follows another; want each class once, in ascending order", c)
	}
}
