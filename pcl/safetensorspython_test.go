package pcl

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// TestSafetensorsInPython: Python's package reads what is written here, and writes what is read here, bit by bit.
func TestSafetensorsInPython(t *testing.T) {
	bin, dir := findPython(t, "numpy, safetensors"), t.TempDir()
	ours, theirs := filepath.Join(dir, "ours.safetensors"), filepath.Join(dir, "theirs.safetensors")
	values := make([]float32, 24)
	for i := range values {
		values[i] = math.Float32frombits(0x9e3779b9*uint32(i) + 1) // all kinds of numbers, NaNs and subnormals among them
	}
	want := &safetensors.File{
		Tensors:  []safetensors.Tensor{{Name: "b/weights", Dims: []int{2, 3, 4}, Values: values}, {Name: "a", Dims: []int{1}, Values: []float32{.1}}, {Name: "none", Dims: []int{0}}},
		Metadata: map[string]string{"k": "Grüße \"\n<"},
	}
	if err := want.Save(ours); err != nil {
		t.Fatal(err)
	}
	const script = `
import sys, numpy, safetensors, safetensors.numpy
with safetensors.safe_open(sys.argv[1], "numpy") as f:
    tensors, texts = {k: f.get_tensor(k) for k in f.keys()}, f.metadata()
assert tensors["b/weights"].shape == (2, 3, 4) and tensors["none"].shape == (0,)
assert tensors["b/weights"].view("uint32").ravel().tolist() == [(0x9e3779b9*i + 1) % 2**32 for i in range(24)]
safetensors.numpy.save_file(tensors, sys.argv[2], metadata=texts)
`
	runPython(t, bin, script, ours, theirs)
	got, err := safetensors.Load(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if got.Metadata["k"] != want.Metadata["k"] || len(got.Tensors) != 3 {
		t.Errorf("%v", got)
	}
	for i, v := range got.Tensor("b/weights").Values {
		if math.Float32bits(v) != math.Float32bits(values[i]) {
			t.Errorf("value %d has the bits %x, want %x", i, math.Float32bits(v), math.Float32bits(values[i]))
		}
	}
}
