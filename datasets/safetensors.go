package datasets

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/internal/npz"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// tensorFile is a file of tensors, whose metadata may have the names of the classes.
type tensorFile struct {
	*safetensors.Reader
	classes []string
}

func openSafetensors(path string) (arrayFile, error) {
	r, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := tensorsOf(r)
	if err != nil {
		r.Close()
		return nil, at(path, err)
	}
	return f, nil
}

func tensorsOf(r *safetensors.Reader) (*tensorFile, error) {
	f := &tensorFile{Reader: r}
	if text := r.Metadata["classes"]; text != "" {
		if err := json.Unmarshal([]byte(text), &f.classes); err != nil {
			return nil, fmt.Errorf("the classes in the metadata are not a JSON list of names: %w", err)
		}
	}
	return f, nil
}

// Names also has "classes" if the metadata name the classes.
func (f *tensorFile) Names() (names []string) {
	for _, t := range f.Entries {
		names = append(names, t.Name)
	}
	if f.classes != nil && !slices.Contains(names, "classes") {
		names = append(names, "classes")
	}
	slices.Sort(names)
	return names
}

func (f *tensorFile) Read(name string) (npz.Array, error) {
	i := slices.IndexFunc(f.Entries, func(t safetensors.Entry) bool { return t.Name == name })
	switch {
	case i < 0 && name == "classes" && f.classes != nil:
		return npz.Array{Shape: []int{len(f.classes)}, Data: f.classes}, nil
	case i < 0:
		return npz.Array{}, fmt.Errorf("there is no tensor %s", name)
	case f.Entries[i].Bytes > maxOwnBytes:
		err := fmt.Errorf("tensor %s has %d bytes; at most %d are read", name, f.Entries[i].Bytes, int64(maxOwnBytes))
		return npz.Array{}, err
	}
	values, err := f.Reader.Read(f.Entries[i])
	return npz.Array{Shape: f.Entries[i].Shape, Data: values}, err
}
