package pcl

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// TestDocumentedPython runs the Python of docs/weights.md: it predicts what the learner predicts,
// from both files, and its own weights are taken by a learner.
func TestDocumentedPython(t *testing.T) {
	bin := must.Python(t, "numpy, onnxruntime, safetensors")
	text := must.Get(os.ReadFile("../docs/weights.md"))(t)
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d blocks of Python", len(blocks))
	}
	b := pcltest.Backend(t, backend.Go)
	for _, name := range []string{"avggrad", "emgd"} {
		t.Run(name, func(t *testing.T) {
			documentedPython(t, b, bin, blocks, name)
		})
	}
}

func documentedPython(t *testing.T, b *backend.Backend, bin string, blocks [][]string, name string) {
	t.Helper()
	l, d := trainedLearner(t, b, name, Options{Increment: "class"})
	n := must.Get(l.Network())(t)
	n.Names = map[int]string{0: "zero", 1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}
	dir := t.TempDir()
	x, _ := flat(d.Select(&d.Test, 3, 0, 1, 2, 3, 4, 5), 64)
	for _, err := range []error{
		n.Save(filepath.Join(dir, "net.safetensors")), n.SaveONNX(filepath.Join(dir, "net.onnx"), nil),
		atomicfile.Write(filepath.Join(dir, "x.safetensors"),
			(&safetensors.File{Tensors: []safetensors.Tensor{{Name: "x", Dims: []int{len(x) / 64, 64}, Values: x}}}).Write),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, p := range must.Get(l.Predict(x))(t) {
		names = append(names, "'"+n.Names[p.Class]+"'")
	}
	want := "[" + strings.Join(names, ", ") + "]\n"
	const first = "import os, sys, numpy as np, safetensors.numpy\nos.chdir(sys.argv[1])\nnp.save('x.npy', safetensors.numpy.load_file('x.safetensors')['x'])\n"
	for i, block := range blocks {
		got := runPython(t, bin, first+block[1], dir)
		if i != 1 && got != want {
			t.Errorf("%s: block %d printed %s, want %s", name, i, got, want)
		}
	}

	net := must.Get(model.NewMLP(784, []int{128, 64}, 62))(t)
	other := smallLearner(t, b, "avggrad", Options{Model: net})
	backbone := must.Get(LoadNetwork(filepath.Join(dir, "backbone.safetensors")))(t)
	must.Do(t, other.SetBackbone(backbone))
}
