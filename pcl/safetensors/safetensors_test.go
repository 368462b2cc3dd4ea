package safetensors

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/must"
)

func encoded(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, f.Write(&b))
	return b.Bytes()
}

// raw returns a file with the given header.
func raw(header string, values int) []byte {
	out := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	return append(out, make([]byte, values)...)
}

func decode(data []byte) (*File, error) {
	r, err := open(data)
	if err != nil {
		return nil, err
	}
	return r.all()
}

func TestRoundTrip(t *testing.T) {
	want := &File{
		Tensors: []Tensor{
			{"z/weights", []int{2, 3}, []float32{1, -2, 3e-40, math.MaxFloat32, 0, float32(math.Copysign(0, -1))}},
			{"empty", []int{0, 4}, []float32{}},
			{"a/bias", []int{1}, []float32{.1}},
			{"scalar", []int{}, []float32{float32(math.Inf(1))}},
		},
		Metadata: map[string]string{"model": "mlp-2-[3]-1", "Grüße": "\"\n<"},
	}
	path := filepath.Join(t.TempDir(), "new", "w.safetensors")
	must.Do(t, atomicfile.Write(path, want.Write))
	got := must.Get(Load(path))(t)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := binary.LittleEndian.Uint64(encoded(t, want)); n%8 != 0 {
		t.Errorf("the values begin after a header of %d bytes", n)
	}
	nan := &File{Tensors: []Tensor{{"x", []int{1}, []float32{math.Float32frombits(0x7fc12345)}}}}
	again, err := decode(encoded(t, nan))
	if err != nil || math.Float32bits(again.Tensors[0].Values[0]) != 0x7fc12345 {
		t.Errorf("a NaN came back as %v: %v", again, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	one := []float32{1}
	for _, f := range []File{
		{Tensors: []Tensor{{"", []int{1}, one}}},
		{Tensors: []Tensor{{"__metadata__", []int{1}, one}}},
		{Tensors: []Tensor{{"a", []int{1}, one}, {"a", []int{1}, one}}},
		{Tensors: []Tensor{{"a", []int{2}, one}}},
		{Tensors: []Tensor{{"a", []int{-1}, one}}},
		{Tensors: []Tensor{{"a", []int{1 << 40, 1 << 40}, one}}},
	} {
		var out bytes.Buffer
		if err := f.Write(&out); err == nil || out.Len() > 0 {
			t.Errorf("%+v: error %v, %d bytes were written", f, err, out.Len())
		}
	}
}

// TestHostile: files that break the format are refused.
func TestHostile(t *testing.T) {
	const a = `"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}`
	huge := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	for i, data := range [][]byte{
		{}, make([]byte, 7), make([]byte, 16),
		append(huge, "{}"...),
		append(binary.LittleEndian.AppendUint64(nil, 3), "{}"...),
		raw("{\"\xff\":1}", 0),
		raw(`{"a":`, 0),
		raw(`{} {}`, 0),
		raw(`{`+a+`,`+a+`}`, 4),
		raw(`{"__metadata__":{"k":"1","k":"2"}}`, 0),
		raw(`{"__metadata__":{"k":1}}`, 0),
		raw(`{"__metadata__":[]}`, 0),
		raw(`{"a":{"dtype":"I16","shape":[1],"data_offsets":[0,2]}}`, 2),
		raw(`{"a":{"shape":[1],"data_offsets":[0,4]}}`, 4),
		raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}}`, 4),
		raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}}`, 4),
		raw(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, 4),
		raw(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0),
		raw(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, 4),
		raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}}`, 8),
		raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}`, 8),
		raw(`{`+a+`}`, 3),
		raw(`{`+a+`}`, 5),
		raw(`{`+a+`,"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4),
		raw(`{`+a+`,"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}`, 12),
		raw(`{"a":{"dtype":"F32","shape":[1],"shape":[2],"data_offsets":[0,8]}}`, 8),
		raw(`{"a":{"dtype":"F32","shape":[null],"data_offsets":[0,0]}}`, 0),
		raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[null,4]}}`, 4),
		raw(`{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,6]}}`, 6),
	} {
		if f, err := decode(data); err == nil {
			t.Errorf("file %d is read as %v", i, f)
		}
	}
}

// TestHalfPrecision: floats of 16 bits have their values as float32.
func TestHalfPrecision(t *testing.T) {
	data := raw(
		`{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"BF16","shape":[1,2],"data_offsets":[4,8]}}`, 0)
	// 1.5 and the smallest negative number of each type
	data = append(data, 0x00, 0x3e, 0x01, 0x80, 0xc0, 0x3f, 0x01, 0x80)
	f := must.Get(decode(data))(t)
	want := []Tensor{{"a", []int{2}, []float32{1.5, -0x1p-24}}, {"b", []int{1, 2}, []float32{1.5, -0x1p-133}}}
	if d := cmp.Diff(want, f.Tensors); d != "" {
		t.Error(d)
	}
}

// FuzzDecode: whatever is read can be written, and is then read as the same.
func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, &File{Tensors: []Tensor{{"a", []int{2}, []float32{1, 2}}, {"b", nil, []float32{3}}},
		Metadata: map[string]string{"k": "v"}}))
	f.Add(
		raw(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4))
	f.Add(raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 3))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := decode(data)
		if err != nil {
			return
		}
		again := must.Get(decode(encoded(t, file)))(t)
		if !bytes.Equal(encoded(t, file), encoded(t, again)) {
			t.Fatalf("%v was read as %v", file, again)
		}
	})
}
