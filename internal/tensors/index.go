// Package tensors reads files in the safetensors format, of all types of numbers and a tensor at a time. A file has the
// length of a header as eight bytes, the header as JSON, which says of each tensor its type, shape and place, and the
// values. All numbers are little-endian.
package tensors

import (
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

	"github.com/parallelcl/parallelcl/internal/jsonin"
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

func (x *Index) readHeader(text []byte) error {
	return jsonin.Object(text, func(key string, value json.RawMessage) error {
		if key == MetadataKey {
			return jsonin.Unmarshal(value, &x.Metadata)
		}
		t, err := readTensor(key, value)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", key, err)
		}
		x.Tensors = append(x.Tensors, t)
		return nil
	})
}

// readTensor reads what the header says of a tensor.
func readTensor(name string, value json.RawMessage) (t Tensor, err error) {
	var in struct {
		Type    string  `json:"dtype"`
		Shape   []int   `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
	}
	if err := jsonin.Unmarshal(value, &in); err != nil {
		return t, err
	}
	if in.Type == "" || in.Shape == nil || len(in.Offsets) != 2 {
		return t, errors.New("want dtype, shape and two data_offsets")
	}
	t = Tensor{name, in.Type, in.Shape, in.Offsets[0], in.Offsets[1]}
	if t.begin < 0 || t.end < t.begin {
		return t, fmt.Errorf("it has the bytes %d to %d", t.begin, t.end)
	}
	n, err := Size(t.Shape)
	if err != nil {
		return t, err
	}
	if k, err := npz.KindOf(kinds[t.Type]); err == nil && int64(n)*int64(k.Size) != t.Bytes() {
		return t, fmt.Errorf("one of type %s and shape %v has %d bytes; want %d", t.Type, t.Shape, t.Bytes(), n*k.Size)
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
