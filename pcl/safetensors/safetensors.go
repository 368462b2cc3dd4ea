// Package safetensors writes and reads safetensors files, which hold named tensors and texts about them. They are the
// usual way to exchange the weights of networks between programs: Python's package safetensors reads and writes them.
// Begin with [File.Save] and [Load]. Tensors are written as float32; float16 and bfloat16 are read too, without
// rounding.
package safetensors

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// Tensor is a named array. The last dimension changes fastest; without dimensions it is one number.
type Tensor struct {
	Name   string
	Dims   []int
	Values []float32
}

// File is the content of a file.
type File struct {
	Tensors  []Tensor          // in the order of the file
	Metadata map[string]string // texts; nil if there are none
}

// ErrInvalid marks the errors for data that are not a safetensors file, or not one that this package reads.
var ErrInvalid = errors.New("not a safetensors file that can be read")

// Tensor returns the tensor of that name, or nil.
func (f *File) Tensor(name string) *Tensor {
	i := slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &f.Tensors[i]
}

// Save writes the file under a temporary name and then renames it to path.
func (f *File) Save(path string) error {
	head, err := f.header()
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return f.write(w, head) })
}

// Write writes the file.
func (f *File) Write(w io.Writer) error {
	head, err := f.header()
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	return f.write(w, head)
}

// Load reads the file at path.
func Load(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}
