package tensors

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/npz"
)

// kinds are NumPy's descriptions of the types.
var kinds = map[string]string{
	"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<bf2",
	"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
	"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}

// Bytes is the size of the tensor's values in the file.
func (t Tensor) Bytes() int64 { return t.end - t.begin }

// Read reads the values of a tensor: a []float64 or []float32, the latter for the floats of 16 bits too, []uint8 for U8,
// and []int64 for the others.
func (x *Index) Read(t Tensor) (any, error) {
	k, err := npz.KindOf(kinds[t.Type])
	if err != nil {
		return nil, fmt.Errorf("tensor %s has the type %s: want a float or whole number type", t.Name, t.Type)
	}
	data := make([]byte, t.Bytes())
	if len(data) > 0 {
		if _, err := x.values.ReadAt(data, t.begin); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
		}
	}
	values, err := k.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", t.Name, err)
	}
	return values, nil
}
