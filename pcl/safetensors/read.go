package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxHeader is the largest header that is read, as in Python's package.
const maxHeader = 100_000_000

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
	if len(data) < 8 {
		return nil, fmt.Errorf("%d bytes", len(data))
	}
	n := binary.LittleEndian.Uint64(data)
	data = data[8:]
	switch {
	case n > maxHeader:
		return nil, fmt.Errorf("it is no safetensors file: the header would have %d bytes, and at most %d are read", n, maxHeader)
	case n > uint64(len(data)):
		return nil, fmt.Errorf("a header of %d bytes, of which %d are there", n, len(data))
	case n == 0 || data[0] != '{':
		return nil, fmt.Errorf("its header does not begin with {")
	case !utf8.Valid(data[:n]):
		return nil, fmt.Errorf("its header is not valid UTF-8")
	}
	f, places, err := readHeader(data[:n])
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	return f, f.fill(places, data[n:])
}

// place is where the values of a tensor are.
type place struct {
	tensor     Tensor
	begin, end int
}

// readHeader reads the header key by key, since a map would hide a key that is there twice.
func readHeader(text []byte) (*File, []place, error) {
	f := &File{}
	var places []place
	err := eachKey(text, func(key string, value json.RawMessage) error {
		if key == metadataKey {
			f.Metadata = map[string]string{}
			return eachKey(value, func(k string, v json.RawMessage) error {
				var s *string
				if err := json.Unmarshal(v, &s); err != nil || s == nil {
					return fmt.Errorf("the text %q is not a string", k)
				}
				f.Metadata[k] = *s
				return nil
			})
		}
		p, err := readPlace(key, value)
		places = append(places, p)
		return err
	})
	return f, places, err
}

// eachKey calls do for each entry of a JSON object.
func eachKey(text []byte, do func(key string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("not a JSON object")
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
		return fmt.Errorf("something follows the JSON object")
	}
	return nil
}

func readPlace(name string, value json.RawMessage) (place, error) {
	var e struct {
		DType   *string
		Shape   *[]int
		Offsets *[]int `json:"data_offsets"`
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return place{}, fmt.Errorf("tensor %q: %w", name, err)
	}
	if e.DType == nil || e.Shape == nil || e.Offsets == nil || len(*e.Offsets) != 2 {
		return place{}, fmt.Errorf("tensor %q: want dtype, shape and two data_offsets", name)
	}
	if *e.DType != "F32" {
		return place{}, fmt.Errorf("tensor %q is of type %s; only F32 is read: convert it, in PyTorch with .float(), in NumPy with .astype(\"float32\")", name, *e.DType)
	}
	n, err := size(*e.Shape)
	if err != nil {
		return place{}, fmt.Errorf("tensor %q: %w", name, err)
	}
	p := place{Tensor{Name: name, Dims: *e.Shape}, (*e.Offsets)[0], (*e.Offsets)[1]}
	if p.begin < 0 || p.end < p.begin || p.end-p.begin != 4*n {
		return place{}, fmt.Errorf("tensor %q of shape %v has the bytes %d to %d; want %d of them", name, p.tensor.Dims, p.begin, p.end, 4*n)
	}
	return p, nil
}

// fill reads the values.
func (f *File) fill(places []place, data []byte) error {
	slices.SortStableFunc(places, func(a, b place) int {
		if a.begin != b.begin {
			return a.begin - b.begin
		}
		if a.end != b.end {
			return a.end - b.end // an empty tensor lies before the one that begins where it does
		}
		return strings.Compare(a.tensor.Name, b.tensor.Name)
	})
	at := 0
	for _, p := range places {
		if p.begin != at {
			return fmt.Errorf("tensor %q begins at byte %d of the values, where %d are taken: tensors overlap, or leave a gap", p.tensor.Name, p.begin, at)
		}
		if p.end > len(data) {
			return fmt.Errorf("tensor %q ends at byte %d of the values, of which %d are there: the file was cut off", p.tensor.Name, p.end, len(data))
		}
		at = p.end
	}
	if at != len(data) {
		return fmt.Errorf("%d bytes follow the values", len(data)-at)
	}
	for _, p := range places {
		p.tensor.Values = make([]float32, (p.end-p.begin)/4)
		for i := range p.tensor.Values {
			p.tensor.Values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[p.begin+4*i:]))
		}
		f.Tensors = append(f.Tensors, p.tensor)
	}
	return nil
}
