package tensors

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/internal/npz"
)

// A kind is a type of values.
type kind struct {
	size   int // in bytes
	decode func([]byte) any
}

var kinds = map[string]kind{
	"F64":  each(8, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }),
	"F32":  each(4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }),
	"F16":  each(2, func(b []byte) float32 { return npz.Half(binary.LittleEndian.Uint16(b)) }),
	"BF16": each(2, func(b []byte) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16) }),
	"I64":  each(8, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }),
	"I32":  each(4, func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) }),
	"I16":  each(2, func(b []byte) int64 { return int64(int16(binary.LittleEndian.Uint16(b))) }),
	"I8":   each(1, func(b []byte) int64 { return int64(int8(b[0])) }),
	"U8":   {1, func(b []byte) any { return b }},
	"BOOL": each(1, func(b []byte) int64 { return int64(b[0]) }),
}

func each[T any](size int, one func([]byte) T) kind {
	return kind{size, func(data []byte) any {
		out := make([]T, 0, len(data)/size)
		for b := range slices.Chunk(data, size) {
			out = append(out, one(b))
		}
		return out
	}}
}

// Bytes is the size of the tensor's values in the file.
func (t Tensor) Bytes() int64 { return t.end - t.begin }

// Read reads the values of a tensor: a []float64 or []float32, the latter for the floats of 16 bits too, []uint8 for U8,
// and []int64 for the others.
func (x *Index) Read(t Tensor) (any, error) {
	k, ok := kinds[t.Type]
	if !ok {
		return nil, fmt.Errorf("tensor %s has the type %s: want a float or whole number type", t.Name, t.Type)
	}
	data := make([]byte, t.Bytes())
	if len(data) > 0 {
		if _, err := x.values.ReadAt(data, t.begin); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
		}
	}
	return k.decode(data), nil
}
