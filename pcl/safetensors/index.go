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
	"os"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/internal/npz"
	"github.com/parallelcl/parallelcl/internal/regular"
)

const (
	metadataKey = "__metadata__" // the entry of the header that holds texts; no tensor has this name
	maxHeader   = 100_000_000    // the size of the largest header that is read, as in Python's package
)

// Reader is a file whose tensors are read one by one. Close it when it is no longer needed.
type Reader struct {
	Entries  []Entry           // in the order of their values
	Metadata map[string]string // texts; nil if there are none

	in     io.ReaderAt
	values io.ReaderAt // of in, behind the header
}

// Entry says where the values of a tensor are.
type Entry struct {
	Name  string
	Type  string // "F32", "BF16", "I64" and so on
	Shape []int  // the last dimension changes fastest
	Bytes int64  // the size of its values in the file

	begin int64
}

// Open reads the header of a file. The values must cover the whole rest of it, without gaps, and no
// two tensors may share some, so that a file has one meaning only.
func Open(path string) (r *Reader, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	r, err = readerOf(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: not a safetensors file that can be read: %w", path, err)
	}
	return r, nil
}

func readerOf(f *os.File) (*Reader, error) {
	about, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return NewReader(f, about.Size())
}

// Close closes what the tensors are read from, if it can be closed.
func (x *Reader) Close() error {
	if c, ok := x.in.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// NewReader is like [Open] for the given number of bytes of r, which [Reader.Close] closes.
func NewReader(r io.ReaderAt, length int64) (*Reader, error) {
	in, n := io.NewSectionReader(r, 0, length), uint64(0)
	if err := binary.Read(in, binary.LittleEndian, &n); err != nil {
		return nil, err
	}
	if n > maxHeader || int64(n) > length-8 {
		return nil, fmt.Errorf("a header of %d bytes in a file of %d; at most %d are read", n, length, maxHeader)
	}
	text, from := make([]byte, n), 8+int64(n)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, err
	}
	x := &Reader{in: r, values: io.NewSectionReader(r, from, length-from)}
	var header map[string]json.RawMessage
	if err := jsonin.Unmarshal(text, &header); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(header)) { // so that a file has one error
		if key == metadataKey {
			if err := jsonin.Unmarshal(header[key], &x.Metadata); err != nil {
				return nil, err
			}
		} else {
			entry, err := readEntry(key, header[key])
			if err != nil {
				return nil, err
			}
			x.Entries = append(x.Entries, entry)
		}
	}
	if err := x.order(length - from); err != nil {
		return nil, err
	}
	return x, nil
}

// described is what the header says of a tensor.
type described struct {
	Type    string  `json:"dtype"`
	Shape   []int   `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// readEntry reads what the header says of a tensor.
func readEntry(name string, value json.RawMessage) (_ Entry, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("tensor %q: %w", name, err)
		}
	}()
	var in described
	if err := jsonin.Unmarshal(value, &in); err != nil {
		return Entry{}, err
	}
	if in.Type == "" || in.Shape == nil || len(in.Offsets) != 2 {
		return Entry{}, errors.New("want dtype, shape and two data_offsets")
	}
	begin, end := in.Offsets[0], in.Offsets[1]
	t := Entry{name, in.Type, in.Shape, end - begin, begin}
	n, err := size(t.Shape)
	if err != nil {
		return Entry{}, err
	}
	each, _, unknown := npz.Decoder(kinds[t.Type])
	if begin < 0 || end < begin || unknown == nil && int64(n)*int64(each) != t.Bytes {
		return Entry{}, fmt.Errorf("its values are the bytes %d to %d, which do not fit the type %s and the shape %v",
			begin, end, t.Type, t.Shape)
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

// order sorts the tensors by their places and checks that these are one after the other, up to the
// end.
func (x *Reader) order(bytes int64) error {
	slices.SortFunc(x.Entries, func(a, b Entry) int {
		// An empty tensor lies before the one that begins where it does.
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.Bytes, b.Bytes), strings.Compare(a.Name, b.Name))
	})
	at := int64(0)
	for _, t := range x.Entries {
		if t.begin != at {
			return fmt.Errorf(
				"tensor %q begins at byte %d of the values, where %d are taken: tensors overlap, or leave a gap",
				t.Name, t.begin, at)
		}
		at += t.Bytes
	}
	if at != bytes {
		return fmt.Errorf("the tensors have %d bytes of values, the file %d: it was cut off, or something follows",
			at, bytes)
	}
	return nil
}

// kinds are NumPy's descriptions of the types.
var kinds = map[string]string{
	"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<bf2",
	"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
	"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}

// Read reads the values of a tensor: a []float64 or []float32, the latter for the floats of 16 bits
// too, []uint8 for U8, and []int64 for the others.
func (x *Reader) Read(t Entry) (values any, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("tensor %s: %w", t.Name, err)
		}
	}()
	_, decode, err := npz.Decoder(kinds[t.Type])
	if err != nil {
		return nil, fmt.Errorf("it has the type %s; want a float or whole number type", t.Type)
	}
	data := make([]byte, t.Bytes)
	if _, err := io.ReadFull(io.NewSectionReader(x.values, t.begin, t.Bytes), data); err != nil {
		return nil, err
	}
	return decode(data)
}
