package program

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// number is the type of a number that is exchanged between host and device.
type number interface {
	float32 | float64 | int32 | uint8
}

// ToDevice copies a flat slice to a new buffer with the given dimensions.
func ToDevice[T number](backend compute.Backend, flat []T, dims ...int) (compute.Buffer, error) {
	shape := shapes.Make(dtypes.FromGenericsType[T](), dims...)
	if shape.Size() != len(flat) {
		panic(fmt.Sprintf("%d values for a buffer of shape %s", len(flat), shape))
	}
	return backend.BufferFromFlatData(0, flat, shape)
}

// Shared returns host memory with room for the given dimensions and, if the device shares memory
// with the host, a buffer that is that same memory; otherwise the buffer is nil. The memory is
// valid as long as the buffer is, and must not be written to while a program is reading it.
func Shared[T number](backend compute.Backend, dims ...int) ([]T, compute.Buffer, error) {
	shape := shapes.Make(dtypes.FromGenericsType[T](), dims...)
	if !backend.HasSharedBuffers() {
		return make([]T, shape.Size()), nil, nil
	}
	b, flat, err := backend.NewSharedBuffer(0, shape)
	if err != nil {
		return nil, nil, err
	}
	values := flat.([]T)
	clear(values)
	return values, b, nil
}

// Read returns the n values of a buffer. Memory that the device shares with the host is the result
// itself, which is valid as long as the buffer: asking the device for a copy involves a switch of
// threads, which takes as long as a tenth of a small gradient. Otherwise the result is a copy.
func Read[T number](b compute.Buffer, n int) ([]T, error) {
	if b.Backend().HasSharedBuffers() {
		data, err := b.Data()
		if err != nil {
			return nil, err
		}
		return data.([]T)[:n], nil
	}
	values := make([]T, n)
	if err := b.ToFlatData(values); err != nil {
		return nil, err
	}
	return values, nil
}

// Free finalises buffers. It ignores those that are nil.
func Free(buffers ...compute.Buffer) {
	for _, b := range buffers {
		if b != nil {
			b.Finalize() // an error here means that the client is gone, and the memory with it
		}
	}
}
