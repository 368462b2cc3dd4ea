package pcl_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
)

// A trained network goes to a file, and from there into a predictor, and into another learner that
// learns more classes.
func ExampleLearner_Network() {
	device := must(backend.Open(context.Background(), backend.Options{Name: backend.Go}))
	defer device.Close()
	learner := newLearner(device)
	defer learner.Close()
	task := dots{0, 1}
	must(learner.Attach(pcl.Task{Classes: task, Stream: must(data.NewStream(task, 1, 1234, 1))}))
	for range 40 {
		must(learner.Step())
	}
	dir := must(os.MkdirTemp("", ""))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "net.safetensors")
	network := must(learner.Network())
	network.Names = map[int]string{0: "left", 1: "right"}
	check(network.Save(path))

	predictor := must(pcl.LoadPredictor(device, path))
	defer predictor.Close()
	x := make([]float32, 8)
	task.Sample(1, x)
	fmt.Println("class", must(predictor.Predict(x))[0].Class)

	other := newLearner(device)
	defer other.Close()
	check(other.SetNetwork(must(pcl.LoadNetwork(path))))
	more := dots{2, 3}
	id := must(other.Attach(pcl.Task{Classes: more, Stream: must(data.NewStream(more, 1, 1234, 2))}))
	fmt.Println("task", id, "of classes", other.Classes())
	// Output:
	// class 1
	// task 2 of classes [0 1 2 3]
}
