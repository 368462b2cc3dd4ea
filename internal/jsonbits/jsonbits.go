// Package jsonbits writes vectors of floating-point numbers to JSON, exactly.
package jsonbits

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/jsonin"
)

// Vector is a vector whose JSON holds its little-endian bits, in base64: shorter than numbers, and
// exact.
type Vector[T float32 | float64] []T

// MarshalJSON writes the bits.
func (v Vector[T]) MarshalJSON() ([]byte, error) {
	bits, err := binary.Append([]byte{}, binary.LittleEndian, []T(v))
	if err != nil {
		return nil, err
	}
	return json.Marshal(bits)
}

// UnmarshalJSON reads what MarshalJSON wrote, and refuses entries that are not finite.
func (v *Vector[T]) UnmarshalJSON(text []byte) error {
	var bits []byte
	if err := jsonin.Unmarshal(text, &bits); err != nil {
		return err
	}
	size := binary.Size(T(0))
	if len(bits)%size != 0 {
		return fmt.Errorf("%d bytes of numbers; want a multiple of %d", len(bits), size)
	}
	*v = make(Vector[T], len(bits)/size)
	if _, err := binary.Decode(bits, binary.LittleEndian, []T(*v)); err != nil {
		return err
	}
	if !fp.Finite(*v) {
		return errors.New("an entry of a vector is not finite")
	}
	return nil
}
