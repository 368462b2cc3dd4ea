// Package safetensors writes and reads safetensors files, which hold named tensors and texts about
// them. They are the usual way to exchange the weights of networks between programs: Python's
// package safetensors reads and writes them. Begin with [File.Write] and [Load], or with [Open] for
// a file of any types whose tensors are read one by one. Tensors are written as float32; float16
// and bfloat16 are read too, without rounding.
//
// A file has the length of a header as eight bytes, the header as JSON, which says of each tensor
// its type, shape and place, and the values. All numbers are little-endian.
package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
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

// Load reads the file at path. The values themselves may be anything, NaN too. PyTorch's counters
// of batches (num_batches_tracked) are left out.
func Load(path string) (*File, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	f, err := r.all()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func (x *Reader) all() (*File, error) {
	f := &File{Metadata: x.Metadata}
	for _, t := range x.Entries {
		if strings.HasSuffix(t.Name, counters) {
			continue
		}
		values, err := x.Read(t)
		if err != nil {
			return nil, err
		}
		floats, ok := values.([]float32) // F16 and BF16 have their values as float32, too
		if !ok {
			return nil, fmt.Errorf("tensor %q is of type %s; only F32, F16 and BF16 are read: convert it, in PyTorch with "+
				".float(), in NumPy with .astype(\"float32\")", t.Name, t.Type)
		}
		f.Tensors = append(f.Tensors, Tensor{Name: t.Name, Dims: t.Shape, Values: floats})
	}
	return f, nil
}

// Write writes the file.
func (f *File) Write(w io.Writer) error {
	head, err := f.header()
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, t := range f.Tensors {
		for values := range slices.Chunk(t.Values, 1<<14) { // which take little memory
			if err := binary.Write(w, binary.LittleEndian, values); err != nil {
				return err
			}
		}
	}
	return nil
}

// header returns the beginning of the file, up to the values, which begin at a multiple of eight
// bytes.
func (f *File) header() ([]byte, error) {
	entries := map[string]any{metadataKey: f.Metadata}
	at := int64(0)
	for _, t := range f.Tensors {
		n, err := size(t.Dims)
		if _, taken := entries[t.Name]; err != nil || n != len(t.Values) || t.Name == "" || taken {
			return nil, fmt.Errorf("a tensor %q of shape %v with %d values: want a name of its own, and as many values as "+
				"the shape takes", t.Name, t.Dims, len(t.Values))
		}
		end := at + 4*int64(n)
		entries[t.Name] = described{"F32", append([]int{}, t.Dims...), []int64{at, end}}
		at = end
	}
	if f.Metadata == nil {
		delete(entries, metadataKey)
	}
	text, err := json.Marshal(entries)
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), err
}
