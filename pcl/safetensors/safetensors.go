// Package safetensors writes and reads safetensors files, which hold named tensors and texts about them. They are the
// usual way to exchange the weights of networks between programs: Python's package safetensors reads and writes them.
// Begin with [File.Save] and [Load], or with [Open] for a file of any types whose tensors are read one by one. Tensors are
// written as float32; float16 and bfloat16 are read too, without rounding.
//
// A file has the length of a header as eight bytes, the header as JSON, which says of each tensor its type, shape and place,
// and the values. All numbers are little-endian.
package safetensors

import (
	"bytes"
	"errors"
	"fmt"
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
func (f *File) Save(path string) error { return atomicfile.Write(path, f.Write) }

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

// Decode reads a file from memory. Its values must cover the whole rest of the file, without gaps, and no two tensors
// may share some, so that a file has one meaning only. The values themselves may be anything, NaN too.
func Decode(data []byte) (*File, error) {
	f, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return f, nil
}

func decode(data []byte) (*File, error) {
	index, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	f := &File{Metadata: index.Metadata}
	for _, t := range index.Entries {
		switch t.Type {
		case "F32", "F16", "BF16": // all of them have their values as float32
		default:
			return nil, fmt.Errorf("tensor %q is of type %s; only F32, F16 and BF16 are read: convert it, in PyTorch with .float(), in NumPy with .astype(\"float32\")", t.Name, t.Type)
		}
		values, err := index.Read(t)
		if err != nil {
			return nil, err
		}
		f.Tensors = append(f.Tensors, Tensor{Name: t.Name, Dims: t.Shape, Values: values.([]float32)})
	}
	return f, nil
}
