package pcl_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// Each sample is a little different in each step; the memory keeps it as it came.
func ExampleOptions_augment() {
	device := must(backend.Open(context.Background(), backend.Options{Name: backend.Go}))
	defer device.Close()
	noise := func(rng *rand.Rand, x []float32) {
		for i := range x {
			x[i] += float32(0.05 * rng.NormFloat64())
		}
	}
	learner := must(pcl.New(context.Background(), pcl.Options{
		Backend: device, Model: must(model.NewMLP(8, []int{32}, 4)), Method: must(method.New("emgd", nil)),
		Increment: scenario.ClassIncremental, Batch: 16, Augment: noise,
		Optimizer: optim.AdamW{Adam: optim.Adam{LR: 0.01}, WeightDecay: 0.01},
		Memory:    memory.Config{Policy: "per_class", Budget: 5},
	}))
	defer learner.Close()
	for id, task := range []dots{{0, 1}, {2, 3}} {
		must(learner.Attach(pcl.Task{Classes: task, Stream: must(data.NewStream(task, 1, 1234, id+1)), Test: task}))
		for len(learner.Running()) > 0 {
			must(learner.Step())
		}
	}
	fmt.Println("above 90 %:", must(learner.Evaluate(1)) > 0.9, must(learner.Evaluate(2)) > 0.9)
	// Output: above 90 %: true true
}
