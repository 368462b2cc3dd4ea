package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// header returns the beginning of the file, up to the values, which begin at a multiple of eight bytes.
func (f *File) header() ([]byte, error) {
	entries := map[string]any{}
	if f.Metadata != nil {
		for k, v := range f.Metadata {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return nil, fmt.Errorf("the text %q is not valid UTF-8", k)
			}
		}
		entries[metadataKey] = f.Metadata
	}
	at := int64(0)
	for _, t := range f.Tensors {
		if err := t.check(); err != nil {
			return nil, err
		}
		if _, twice := entries[t.Name]; twice {
			return nil, fmt.Errorf("two tensors have the name %q", t.Name)
		}
		end := at + 4*int64(len(t.Values))
		entries[t.Name] = described{"F32", append([]int{}, t.Dims...), []int64{at, end}}
		at = end
	}
	text, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	if len(text) > maxHeader {
		return nil, fmt.Errorf("the names and texts take %d bytes; at most %d can be read", len(text), maxHeader)
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), nil
}

// check returns an error if a tensor cannot be written.
func (t Tensor) check() error {
	switch n, err := size(t.Dims); {
	case t.Name == "" || t.Name == metadataKey || !utf8.ValidString(t.Name):
		return fmt.Errorf("a tensor cannot have the name %q", t.Name)
	case err != nil:
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	case n != len(t.Values):
		return fmt.Errorf("tensor %q has %d values; its shape %v takes %d", t.Name, len(t.Values), t.Dims, n)
	}
	return nil
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
