package safetensors

import (
	"bytes"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/tensors"
)

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
	index, err := tensors.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	f := &File{Metadata: index.Metadata}
	for _, t := range index.Tensors {
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
