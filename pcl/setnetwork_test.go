package pcl

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

// TestSetNetworkLoss: a network that was trained for another loss is refused before
// anything changes.
func TestSetNetworkLoss(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	net := must.Get(model.NewMLP(4, []int{6}, 6))(t)
	classes := must.Get(smallLearner(t, b, "avggrad", Options{Model: net}).Network())(t)
	classes.Tasks = []TaskInfo{{ID: 1, Classes: []int{0, 1}}, {ID: 2, Classes: []int{2, 3, 4}}}
	l := smallLearner(t, b, "avggrad", Options{Model: net, Loss: model.SquaredError(2)})
	before := must.Get(l.Parameters())(t)
	refused(t, l.SetNetwork(classes), "where none is of classes")
	if after := must.Get(l.Parameters())(t); len(l.Tasks()) != 0 || !slices.Equal(after, before) {
		t.Error("a refused network has changed the learner")
	}
}

// TestHugeModelOfSmallFile: a file may name a model of any size; it is refused with an error, and
// needs no memory.
func TestHugeModelOfSmallFile(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for key, want := range map[string]string{
		"mlp-999999999-[999999999]-9":                     "parameters and statistics; at most",
		"mlp-999999999-[999999999 999999999 999999999]-9": "parameters and statistics; at most",
		"mlp-999999-[999999]-9":                           "tensor dense1/weights of the model is missing",
		"resnet18-99998x99998x99999-99999-999999999":      "a ResNet-18 for images of 1e+15 values; at most",
	} {
		t.Run(key, func(t *testing.T) {
			n := &Network{
				Model: key, Increment: "task", Image: Image{1, 1, 1}, Tasks: []TaskInfo{{ID: 1, Classes: []int{0}}},
				Tensors: []safetensors.Tensor{{Name: "a", Dims: []int{1}, Values: []float32{1}}},
			}
			path := filepath.Join(t.TempDir(), "net.safetensors")
			must.Do(t, n.Save(path))
			refused(t, second(LoadPredictor(b, path)), want)
			refused(t, n.SaveONNX(filepath.Join(t.TempDir(), "net.onnx"), nil), want)
		})
	}
}
