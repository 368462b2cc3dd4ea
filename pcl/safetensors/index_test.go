package safetensors

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// rawWith returns a file with the given header and values.
func rawWith(header string, values ...byte) []byte { return append(raw(header, 0), values...) }

func open(data []byte) (r *Reader, err error) {
	r, err = NewReader(bytes.NewReader(data), int64(len(data)))
	return r, err
}

// TestTypes reads one tensor of each type. Their order is that of the values, not that of the
// header.
func TestTypes(t *testing.T) {
	x, err := open(rawWith(`{
		"last":{"dtype":"BOOL","shape":[2],"data_offsets":[38,40]}, "f64":{"dtype":"F64","shape":[],"data_offsets":[0,8]},
		"f32":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}, "f16":{"dtype":"F16","shape":[1],"data_offsets":[12,14]},
		"bf16":{"dtype":"BF16","shape":[1],"data_offsets":[14,16]}, "i64":{"dtype":"I64","shape":[1],"data_offsets":[16,24]},
		"i32":{"dtype":"I32","shape":[1],"data_offsets":[24,28]}, "i16":{"dtype":"I16","shape":[2],"data_offsets":[28,32]},
		"i8":{"dtype":"I8","shape":[2],"data_offsets":[32,34]}, "u8":{"dtype":"U8","shape":[2,2],"data_offsets":[34,38]},
		"none":{"dtype":"U8","shape":[0,3],"data_offsets":[34,34]}, "__metadata__":{"k":"v"}}`,
		0, 0, 0, 0, 0, 0, 0xf8, 0x3f,
		0, 0, 0x20, 0xc0, 0, 0xbe, 0xc0, 0x3f,
		0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xfd, 0xff, 0xff, 0xff, 1, 1, 0xff, 0xff, 0xff, 1, 1, 2, 3, 255, 1, 0))
	must.Do(t, err)
	type read struct {
		Name   string
		Values any
	}
	var got []read
	for _, tensor := range x.Entries {
		v := must.Get(x.Read(tensor))(t)
		got = append(got, read{tensor.Name, v})
	}
	want := []read{
		{"f64", []float64{1.5}}, {"f32", []float32{-2.5}}, {"f16", []float32{-1.5}}, {"bf16", []float32{1.5}},
		{"i64", []int64{-2}}, {"i32", []int64{-3}}, {"i16", []int64{257, -1}}, {"i8", []int64{-1, 1}},
		{"none", []uint8{}}, {"u8", []uint8{1, 2, 3, 255}}, {"last", []int64{1, 0}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if x.Metadata["k"] != "v" {
		t.Errorf("metadata %v", x.Metadata)
	}
}

// TestUnknownType: a file may have tensors of types that are not read, as long as nobody reads
// them.
func TestUnknownType(t *testing.T) {
	x := must.Get(open(rawWith(`{"z":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}}`, make([]byte, 8)...)))(t)
	_, err := x.Read(x.Entries[0])
	expect.Refusal(t, "Read", err, "tensor z: it has the type C64; want a float or whole number")
}

// TestUnsigned reads whole numbers without a sign, as from .npz files.
func TestUnsigned(t *testing.T) {
	for name, text := range map[string]string{"U16": "\xfe\xff", "U32": "\xfe\xff\x00\x00",
		"U64": "\xfe\xff\x00\x00\x00\x00\x00\x00"} {
		x := must.Get(open(rawWith(fmt.Sprintf(`{"y":{"dtype":%q,"shape":[1],"data_offsets":[0,%d]}}`, name, len(text)),
			[]byte(text)...)))(t)
		if got, err := x.Read(x.Entries[0]); err != nil || !cmp.Equal(got, []int64{0xfffe}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
