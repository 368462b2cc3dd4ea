package datasets

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/parallelcl/parallelcl/internal/npz"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// safetensorsFile is a file of tensors.
type safetensorsFile struct {
	file    *os.File
	index   *safetensors.Index
	classes []string
}

func openSafetensors(path string) (arrayFile, error) {
	info, err := statFile(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &safetensorsFile{file: f}
	if s.index, err = safetensors.Open(f, info.Size()); err == nil {
		err = s.readClasses()
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: not a safetensors file: %w", path, err)
	}
	return s, nil
}

func (s *safetensorsFile) Close() error { return s.file.Close() }

// readClasses takes the names of the classes from the text "classes" of the metadata, a JSON list.
func (s *safetensorsFile) readClasses() error {
	text := s.index.Metadata["classes"]
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &s.classes); err != nil {
		return fmt.Errorf("the metadata's classes are not a JSON list of names: %w", err)
	}
	return nil
}

// Names also has "classes" if the metadata name the classes.
func (s *safetensorsFile) Names() []string {
	var names []string
	for _, t := range s.index.Entries {
		names = append(names, t.Name)
	}
	if s.classes != nil && !slices.Contains(names, "classes") {
		names = append(names, "classes")
	}
	slices.Sort(names)
	return names
}

func (s *safetensorsFile) Read(name string) (npz.Array, error) {
	i := slices.IndexFunc(s.index.Entries, func(t safetensors.Entry) bool { return t.Name == name })
	if i < 0 && name == "classes" && s.classes != nil {
		return npz.Array{Shape: []int{len(s.classes)}, Data: s.classes}, nil
	}
	if i < 0 {
		return npz.Array{}, fmt.Errorf("there is no tensor %s", name)
	}
	t := s.index.Entries[i]
	if t.Bytes() > maxOwnBytes {
		return npz.Array{}, fmt.Errorf("tensor %s has %d bytes; at most %d are read", name, t.Bytes(), int64(maxOwnBytes))
	}
	values, err := s.index.Read(t)
	return npz.Array{Shape: t.Shape, Data: values}, err
}
