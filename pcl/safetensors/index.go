package safetensors

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/internal/npz"
)

const (
	metadataKey = "__metadata__" // the entry of the header that holds texts; no tensor has this name
	maxHeader   = 100_000_000    // the size of the largest header that is read, as in Python's package
)

// Index is what the header of a file says.
type Index struct {
	Entries  []Entry           // in the order of their values
	Metadata map[string]string // texts; nil if there are none

	values io.ReaderAt
}

// Entry says where the values of a tensor are.
type Entry struct {
	Name  string
	Type  string // "F32", "BF16", "I64" and so on
	Shape []int  // the last dimension changes fastest

	begin, end int64
}

// Open reads the header of a file of the given length, whose values are then read a tensor at a time. The values must cover the
// whole rest of the file, without gaps, and no two tensors may share some, so that a file has one meaning only.
func Open(r io.ReaderAt, length int64) (*Index, error) {
	var head [8]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > maxHeader || int64(n) > length-8 {
		return nil, fmt.Errorf("a header of %d bytes in a file of %d; at most %d are read", n, length, maxHeader)
	}
	text, from := make([]byte, n), 8+int64(n)
	if _, err := r.ReadAt(text, 8); err != nil && n > 0 {
		return nil, err
	}
	x := &Index{values: io.NewSectionReader(r, from, length-from)}
	var header map[string]json.RawMessage
	err := jsonin.Unmarshal(text, &header)
	for _, key := range slices.Sorted(maps.Keys(header)) { // so that a file has one error
		if err != nil {
			break
		}
		if key == metadataKey {
			err = jsonin.Unmarshal(header[key], &x.Metadata)
			continue
		}
		var t Entry
		if t, err = readEntry(key, header[key]); err != nil {
			err = fmt.Errorf("tensor %q: %w", key, err)
		}
		x.Entries = append(x.Entries, t)
	}
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return x, x.order(length - from)
}

// described is what the header says of a tensor.
type described struct {
	Type    string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// readEntry reads what the header says of a tensor.
func readEntry(name string, value json.RawMessage) (t Entry, err error) {
	var in described
	if err := jsonin.Unmarshal(value, &in); err != nil {
		return t, err
	}
	if in.Type == "" || in.Shape == nil || len(in.Offsets) != 2 {
		return t, errors.New("want dtype, shape and two data_offsets")
	}
	t = Entry{name, in.Type, in.Shape, in.Offsets[0], in.Offsets[1]}
	n, err := size(t.Shape)
	if err != nil {
		return t, err
	}
	k, unknown := npz.KindOf(kinds[t.Type])
	if t.begin < 0 || t.end < t.begin || unknown == nil && int64(n)*int64(k.Size) != t.Bytes() {
		return t, fmt.Errorf("one of type %s and shape %v has the bytes %d to %d", t.Type, t.Shape, t.begin, t.end)
	}
	return t, nil
}

// size returns the number of values of a shape.
func size(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > math.MaxInt/8/d { // of eight bytes each
			return 0, fmt.Errorf("the shape %v has a negative number, or takes more values than fit in memory", shape)
		}
		n *= d
	}
	return n, nil
}

// order sorts the tensors by their places and checks that these are one after the other, up to the end.
func (x *Index) order(bytes int64) error {
	slices.SortFunc(x.Entries, func(a, b Entry) int {
		// An empty tensor lies before the one that begins where it does.
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), strings.Compare(a.Name, b.Name))
	})
	at := int64(0)
	for _, t := range x.Entries {
		if t.begin != at {
			return fmt.Errorf("tensor %q begins at byte %d of the values, where %d are taken: tensors overlap, or leave a gap", t.Name, t.begin, at)
		}
		at = t.end
	}
	if at != bytes {
		return fmt.Errorf("the tensors have %d bytes of values, the file %d: it was cut off, or something follows", at, bytes)
	}
	return nil
}

// kinds are NumPy's descriptions of the types.
var kinds = map[string]string{
	"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<bf2",
	"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
	"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}

// Bytes is the size of the tensor's values in the file.
func (t Entry) Bytes() int64 { return t.end - t.begin }

// Read reads the values of a tensor: a []float64 or []float32, the latter for the floats of 16 bits too, []uint8 for U8,
// and []int64 for the others.
func (x *Index) Read(t Entry) (any, error) {
	k, err := npz.KindOf(kinds[t.Type])
	if err != nil {
		return nil, fmt.Errorf("tensor %s has the type %s: want a float or whole number type", t.Name, t.Type)
	}
	data := make([]byte, t.Bytes())
	if _, err := x.values.ReadAt(data, t.begin); err != nil && len(data) > 0 {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	values, err := k.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	return values, nil
}
