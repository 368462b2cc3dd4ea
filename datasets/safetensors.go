package datasets

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"

	"github.com/parallelcl/parallelcl/internal/npz"
)

// safetensorsFile is a file in the format of the same name: the length of a header as eight bytes, the header as JSON,
// and the tensors' bytes.
type safetensorsFile struct {
	file    *os.File
	from    int64 // where the tensors begin
	tensors map[string]tensorEntry
	classes []string
}

type tensorEntry struct {
	Type  string   `json:"dtype"`
	Shape []int    `json:"shape"`
	At    [2]int64 `json:"data_offsets"`
}

func openSafetensors(path string) (arrayFile, error) {
	if _, err := statFile(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := &safetensorsFile{file: f}
	if err := s.readHeader(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: not a safetensors file: %w", path, err)
	}
	return s, nil
}

func (s *safetensorsFile) Close() error { return s.file.Close() }

func (s *safetensorsFile) readHeader() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	length := make([]byte, 8)
	if _, err := io.ReadFull(s.file, length); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint64(length)
	if n > 100<<20 || n > uint64(info.Size()) {
		return fmt.Errorf("a header of %d bytes", n)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(s.file, data); err != nil {
		return err
	}
	s.from = 8 + int64(n)
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if err := s.readMetadata(raw["__metadata__"]); err != nil {
		return err
	}
	delete(raw, "__metadata__")
	s.tensors = map[string]tensorEntry{}
	for name, text := range raw {
		var t tensorEntry
		if err := json.Unmarshal(text, &t); err != nil {
			return fmt.Errorf("tensor %s: %w", name, err)
		}
		if t.At[0] < 0 || t.At[1] < t.At[0] || t.At[1] > info.Size()-s.from {
			return fmt.Errorf("tensor %s lies at %v, and the tensors have %d bytes: the file is cut off", name, t.At, info.Size()-s.from)
		}
		s.tensors[name] = t
	}
	return nil
}

// readMetadata takes the names of the classes from the entry "classes", a JSON list as a text: metadata are texts.
func (s *safetensorsFile) readMetadata(text json.RawMessage) error {
	if text == nil {
		return nil
	}
	var m map[string]string
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("its metadata: %w", err)
	}
	if m["classes"] == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(m["classes"]), &s.classes); err != nil {
		return fmt.Errorf("the metadata's classes are not a JSON list of names: %w", err)
	}
	return nil
}

// Names also has "classes" if the metadata name the classes.
func (s *safetensorsFile) Names() []string {
	names := slices.Collect(maps.Keys(s.tensors))
	if s.classes != nil && !slices.Contains(names, "classes") {
		names = append(names, "classes")
	}
	slices.Sort(names)
	return names
}

func (s *safetensorsFile) Read(name string) (npz.Array, error) {
	t, ok := s.tensors[name]
	if !ok && name == "classes" && s.classes != nil {
		return npz.Array{Shape: []int{len(s.classes)}, Data: s.classes}, nil
	}
	if !ok {
		return npz.Array{}, fmt.Errorf("there is no tensor %s", name)
	}
	k, ok := tensorTypes[t.Type]
	if !ok {
		return npz.Array{}, fmt.Errorf("tensor %s has the type %s: want a float or whole number type", name, t.Type)
	}
	n := int64(k.size)
	for _, d := range t.Shape {
		if d < 0 || d > 0 && n > maxOwnBytes/int64(d) {
			return npz.Array{}, fmt.Errorf("tensor %s has the shape %v", name, t.Shape)
		}
		n *= int64(d)
	}
	if n != t.At[1]-t.At[0] {
		return npz.Array{}, fmt.Errorf("tensor %s has the shape %v and %d bytes", name, t.Shape, t.At[1]-t.At[0])
	}
	data := make([]byte, n)
	if _, err := s.file.ReadAt(data, s.from+t.At[0]); err != nil && !(errors.Is(err, io.EOF) && n == 0) {
		return npz.Array{}, fmt.Errorf("tensor %s: %w", name, err)
	}
	return npz.Array{Shape: t.Shape, Data: k.decode(data)}, nil
}

// A tensorType is the type of a tensor's entries.
type tensorType struct {
	size   int
	decode func([]byte) any
}

var tensorTypes = map[string]tensorType{
	"F64": {8, entries(8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) })},
	"F32": {4, entries(4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) })},
	"F16": {2, entries(2, func(b []byte) float32 { return npz.Half(binary.LittleEndian.Uint16(b)) })},
	"BF16": {2, entries(2, func(b []byte) float32 {
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)
	})},
	"I64":  {8, entries(8, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) })},
	"I32":  {4, entries(4, func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) })},
	"I16":  {2, entries(2, func(b []byte) int64 { return int64(int16(binary.LittleEndian.Uint16(b))) })},
	"I8":   {1, entries(1, func(b []byte) int64 { return int64(int8(b[0])) })},
	"U8":   {1, func(b []byte) any { return b }},
	"BOOL": {1, entries(1, func(b []byte) int64 { return int64(b[0]) })},
}

func entries[T any](size int, one func([]byte) T) func([]byte) any {
	return func(data []byte) any {
		out := make([]T, len(data)/size)
		for i := range out {
			out[i] = one(data[i*size : (i+1)*size])
		}
		return out
	}
}
