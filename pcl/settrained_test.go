package pcl

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/safetensors"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// TestSetTrainedLoss: a network that was trained for another loss is refused before
// anything changes.
func TestSetTrainedLoss(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	net := must[*model.MLP](t)(model.NewMLP(4, []int{6}, 6))
	classes := must[*Trained](t)(smallLearner(t, b, "avggrad", Options{Model: net}).Trained())
	classes.Tasks = []TaskInfo{{ID: 1, Classes: []int{0, 1}}, {ID: 2, Classes: []int{2, 3, 4}}}
	l := smallLearner(t, b, "avggrad", Options{Model: net, Loss: model.SquaredError{N: 2}})
	before := must[[]float32](t)(l.Parameters())
	refused(t, l.SetTrained(classes, Take{}))
	if after := must[[]float32](t)(l.Parameters()); len(l.Tasks()) != 0 || !slices.Equal(after, before) {
		t.Error("a refused network has changed the learner")
	}
}

// TestAdoptedNames: the names of a network's classes go with its tasks.
func TestAdoptedNames(t *testing.T) {
	b, d := pcltest.Backend(t, backend.Go), pcltest.Blobs(6, 20, 5)
	l := smallLearner(t, b, "avggrad", Options{})
	task := blobTask(t, d, 1, 0, 1)
	task.ClassNames = []string{"left", "right"}
	attach(t, l, task)
	attach(t, l, blobTask(t, d, 2, 2, 3))
	half := blobTask(t, d, 3, 4, 5)
	half.ClassNames = []string{"", "up"}
	attach(t, l, half)
	path := filepath.Join(t.TempDir(), "net.safetensors")
	if err := must[*Trained](t)(l.Trained()).Save(path); err != nil {
		t.Fatal(err)
	}
	next := smallLearner(t, b, "avggrad", Options{})
	if err := next.SetTrained(must[*Trained](t)(LoadTrained(path)), Take{}); err != nil {
		t.Fatal(err)
	}
	if tasks := next.Tasks(); !slices.Equal(tasks[0].ClassNames, task.ClassNames) || tasks[1].ClassNames != nil || !slices.Equal(tasks[2].ClassNames, half.ClassNames) {
		t.Errorf("the classes are called %q, %q and %q", tasks[0].ClassNames, tasks[1].ClassNames, tasks[2].ClassNames)
	}
	if n := must[*Trained](t)(next.Trained()).Names; n[0] != "left" || n[1] != "right" {
		t.Errorf("the names that are saved again are %v", n)
	}
}

// TestHugeModelOfSmallFile: a file may name a model of any size; it is refused with an error, and needs no memory.
func TestHugeModelOfSmallFile(t *testing.T) {
	b := pcltest.Backend(t, backend.Go)
	for _, key := range []string{
		"mlp-999999999-[999999999]-9", "mlp-999999999-[999999999 999999999 999999999]-9", "mlp-999999-[999999]-9",
		"resnet18-99998x99998x99999-99999-999999999",
	} {
		n := &Trained{
			Model: key, Increment: scenario.TaskIncremental, Image: Image{1, 1, 1}, Tasks: []TaskInfo{{ID: 1, Classes: []int{0}}},
			Tensors: []safetensors.Tensor{{Name: "a", Dims: []int{1}, Values: []float32{1}}},
		}
		path := filepath.Join(t.TempDir(), "net.safetensors")
		if err := n.Save(path); err != nil {
			t.Fatal(err)
		}
		_, err := LoadPredictor(b, path)
		refused(t, err)
		refused(t, n.SaveONNX(filepath.Join(t.TempDir(), "net.onnx"), nil))
	}
}
