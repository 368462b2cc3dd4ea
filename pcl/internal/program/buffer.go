package program

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// Number is the type of a number that is exchanged between host and device.
type Number interface {
	float32 | float64 | int32 | uint8
}

// ToDevice copies a flat slice to a new buffer with the given dimensions.
func ToDevice[T Number](backend compute.Backend, flat []T, dims ...int) (compute.Buffer, error) {
	shape := shapes.Make(dtypes.FromGenericsType[T](), dims...)
	if shape.Size() != len(flat) {
		return nil, fmt.Errorf("%d values for a buffer of shape %s", len(flat), shape)
	}
	return backend.BufferFromFlatData(0, flat, shape)
}

// Shared returns host memory with room for the given dimensions and, if the device shares memory with the host, a
// buffer that is that same memory; otherwise the buffer is nil. The memory is valid as long as the buffer is, and
// must not be written to while a program is reading it.
func Shared[T Number](backend compute.Backend, dims ...int) ([]T, compute.Buffer, error) {
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

// ToHost copies a buffer into dst, which must have the buffer's size. Memory that the device shares with the host
// is read directly, because asking the device for a copy involves a switch of threads, which takes as long as a
// tenth of a small gradient.
func ToHost[T Number](dst []T, b compute.Buffer) error {
	if !b.Backend().HasSharedBuffers() {
		return b.ToFlatData(dst)
	}
	flat, err := b.Data()
	if err != nil {
		return err
	}
	values, ok := flat.([]T)
	if !ok || len(values) != len(dst) {
		return fmt.Errorf("a buffer of %T read as %d values of %T", flat, len(dst), dst)
	}
	copy(dst, values)
	return nil
}

// Values returns a copy of the n values of a buffer on the host.
func Values[T Number](b compute.Buffer, n int) ([]T, error) {
	values := make([]T, n)
	return values, ToHost(values, b)
}

// Copy returns a copy of a buffer of n values of float32 on its device.
func Copy(b compute.Buffer, n int) (compute.Buffer, error) {
	values, err := Values[float32](b, n)
	if err != nil {
		return nil, err
	}
	return ToDevice(b.Backend(), values, n)
}

// Free finalises buffers. It ignores those that are nil.
func Free(buffers ...compute.Buffer) {
	for _, b := range buffers {
		if b != nil {
			b.Finalize() // an error here means that the client is gone, and the memory with it
		}
	}
}
