package safetensors

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// TestFromTorch: tensors get our names and axes, others stay, and a file of another network stays
// as it is.
func TestFromTorch(t *testing.T) {
	f := &File{Tensors: []Tensor{
		{"layer1.0.conv1.weight", []int{2, 3, 1, 2}, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
		{"bn1.running_var", []int{1}, []float32{7}}, {"layer2.0.downsample.1.bias", []int{1}, []float32{8}},
		{"fc.weight", []int{2, 2}, []float32{1, 2, 3, 4}}, {"conv1.bias", []int{1}, []float32{9}},
		{"layer1.0.conv1.scale", []int{1}, []float32{5}},
	}}
	want := &File{Tensors: []Tensor{
		{"layer1/0/conv1/weights", []int{1, 2, 3, 2}, []float32{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11}},
		{"stem/norm/variance", []int{1}, []float32{7}}, {"layer2/0/shortcut/norm/shift", []int{1}, []float32{8}},
		{"classifier/weights", []int{2, 2}, []float32{1, 3, 2, 4}}, {"stem/conv/bias", []int{1}, []float32{9}},
		{"layer1.0.conv1.scale", []int{1}, []float32{5}},
	}}
	if d := cmp.Diff(want, FromTorch(f)); d != "" {
		t.Error(d)
	}
	if other := (&File{Tensors: f.Tensors[1:]}); FromTorch(other) != other {
		t.Error("a file of another network is changed")
	}
}

// TestCounters: what PyTorch's batch normalisation counts is left out, other whole numbers are
// refused.
func TestCounters(t *testing.T) {
	count := binary.LittleEndian.AppendUint64(nil, 3)
	for name, want := range map[string]int{"bn1.num_batches_tracked": 0, "bn1.batches": -1} {
		head := raw(`{"`+name+`":{"dtype":"I64","shape":[],"data_offsets":[0,8]}}`, 0)
		f, err := decode(append(head, count...))
		if want < 0 {
			expect.Refusal(t, "a type of other tensors", err, `tensor "bn1.batches" is of type I64; only F32, F16 and BF16`)
			continue
		}
		if must.Do(t, err); len(f.Tensors) != want {
			t.Errorf("%s gives %v", name, f.Tensors)
		}
	}
}
