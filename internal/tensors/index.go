// Package tensors reads files in the safetensors format, of all types of numbers and a tensor at a time. A file has the
// length of a header as eight bytes, the header as JSON, which says of each tensor its type, shape and place, and the
// values. All numbers are little-endian.
package tensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/npz"
)

const (
	// MetadataKey is the entry of the header that holds texts. No tensor has this name.
	MetadataKey = "__metadata__"
	// MaxHeader is the size of the largest header that is read, as in Python's package.
	MaxHeader = 100_000_000
)

// Index is what the header of a file says.
type Index struct {
	Tensors  []Tensor          // in the order of their values
	Metadata map[string]string // texts; nil if there are none

	values io.ReaderAt
}

// Tensor says where the values of a tensor are.
type Tensor struct {
	Name  string
	Type  string // "F32", "BF16", "I64" and so on
	Shape []int  // the last dimension changes fastest

	begin, end int64
}

// Open reads the header of a file of the given size. The values must cover the whole rest of the file, without gaps, and
// no two tensors may share some, so that a file has one meaning only.
func Open(r io.ReaderAt, size int64) (*Index, error) {
	head := make([]byte, 8)
	if size < 8 {
		return nil, fmt.Errorf("%d bytes", size)
	}
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head)
	switch {
	case n > MaxHeader:
		return nil, fmt.Errorf("a header of %d bytes; at most %d are read", n, MaxHeader)
	case int64(n) > size-8:
		return nil, fmt.Errorf("a header of %d bytes, of which %d are there", n, size-8)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, 8); err != nil {
		return nil, err
	}
	switch {
	case n == 0 || text[0] != '{':
		return nil, errors.New("its header does not begin with {")
	case !utf8.Valid(text):
		return nil, errors.New("its header is not valid UTF-8")
	}
	from := 8 + int64(n)
	x := &Index{values: io.NewSectionReader(r, from, size-from)}
	if err := x.readHeader(text); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return x, x.order(size - from)
}

// readHeader reads the header key by key, since a map would hide a key that is there twice.
func (x *Index) readHeader(text []byte) error {
	return eachKey(text, func(key string, value json.RawMessage) error {
		if key != MetadataKey {
			t, err := readTensor(key, value)
			x.Tensors = append(x.Tensors, t)
			return err
		}
		x.Metadata = map[string]string{}
		return eachKey(value, func(k string, v json.RawMessage) error {
			var s *string
			if err := json.Unmarshal(v, &s); err != nil || s == nil {
				return fmt.Errorf("the text %q is not a string", k)
			}
			x.Metadata[k] = *s
			return nil
		})
	})
}

// eachKey calls do for each entry of a JSON object.
func eachKey(text []byte, do func(key string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("not a JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return fmt.Errorf("%v is not a name", t)
		}
		if seen[key] {
			return fmt.Errorf("%q is there twice", key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := do(key, value); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the JSON object")
	}
	return nil
}

// readTensor reads what the header says of a tensor, key by key for the same reason, and no null, which would count as 0.
func readTensor(name string, value json.RawMessage) (Tensor, error) {
	t, offsets, read := Tensor{Name: name}, []int64(nil), 0
	err := eachKey(value, func(key string, v json.RawMessage) error {
		into := map[string]any{"dtype": &t.Type, "shape": &t.Shape, "data_offsets": &offsets}[key]
		if into == nil {
			return fmt.Errorf("an unknown field %q", key)
		}
		read++
		if bytes.Contains(v, []byte("null")) && key != "dtype" || string(v) == "null" {
			return fmt.Errorf("there is a null in its %s", key)
		}
		return json.Unmarshal(v, into)
	})
	switch {
	case err != nil:
		return Tensor{}, fmt.Errorf("tensor %q: %w", name, err)
	case read != 3 || len(offsets) != 2:
		return Tensor{}, fmt.Errorf("tensor %q: want dtype, shape and two data_offsets", name)
	}
	t.begin, t.end = offsets[0], offsets[1]
	if t.begin < 0 || t.end < t.begin {
		return Tensor{}, fmt.Errorf("tensor %q has the bytes %d to %d", name, t.begin, t.end)
	}
	n, err := Size(t.Shape)
	if err != nil {
		return Tensor{}, fmt.Errorf("tensor %q: %w", name, err)
	}
	if k, err := npz.KindOf(kinds[t.Type]); err == nil && int64(n)*int64(k.Size) != t.end-t.begin {
		return Tensor{}, fmt.Errorf("tensor %q of type %s and shape %v has %d bytes; want %d", name, t.Type, t.Shape, t.end-t.begin, n*k.Size)
	}
	return t, nil
}

// Size returns the number of values of a shape.
func Size(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("a dimension of %d", d)
		}
		if d > 0 && n > math.MaxInt/8/d { // of eight bytes each
			return 0, errors.New("more values than fit in memory")
		}
		n *= d
	}
	return n, nil
}

// order sorts the tensors by their places and checks that these are one after the other, up to the end.
func (x *Index) order(bytes int64) error {
	slices.SortFunc(x.Tensors, func(a, b Tensor) int {
		// An empty tensor lies before the one that begins where it does.
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), strings.Compare(a.Name, b.Name))
	})
	at := int64(0)
	for _, t := range x.Tensors {
		if t.begin != at {
			return fmt.Errorf("tensor %q begins at byte %d of the values, where %d are taken: tensors overlap, or leave a gap", t.Name, t.begin, at)
		}
		if t.end > bytes {
			return fmt.Errorf("tensor %q ends at byte %d of the values, of which %d are there: the file was cut off", t.Name, t.end, bytes)
		}
		at = t.end
	}
	if at != bytes {
		return fmt.Errorf("%d bytes follow the values", bytes-at)
	}
	return nil
}
