package pcl_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// Real numbers are learnt from samples that are pushed: the target value follows the inputs of a
// sample.
func ExampleOptions_pushedValues() {
	device := must(backend.Open(context.Background(), backend.Options{Name: backend.Go}))
	defer device.Close()
	learner := must(pcl.New(context.Background(), pcl.Options{
		Backend: device, Model: must(model.NewMLP(2, []int{32}, 1)), Loss: model.SquaredError(1),
		Method: must(method.New("emgd-gmc+der-pp", nil)), Increment: "task", Batch: 32,
		Optimizer: optim.Adam{LR: 0.01}, Memory: memory.Config{Policy: "per_class", Budget: 20},
	}))
	defer learner.Close()

	stream := must(data.NewPushStream(2+1, 256, []int{0})) // two inputs and a target value; the class names the output
	id := must(learner.Attach(pcl.Task{Classes: []int{0}, Stream: stream}))
	go func() {
		defer stream.End()
		for rng, i := rand.New(rand.NewPCG(1, 2)), 0; i < 6400; i++ {
			a, b := rng.Float32()*2-1, rng.Float32()*2-1
			must(stream.Push(context.Background(), []float32{a, b, a * b}, 0))
		}
	}()
	check(learner.Run(context.Background(), pcl.Hooks{}))
	predictor := must(learner.Snapshot())
	product := must(predictor.Outputs(id, []float32{0.8, -0.5}))[0][0]
	fmt.Println("0.8 · (−0.5) is about −0.4:", math.Abs(float64(product)+0.4) < 0.1)
	// Output:
	// 0.8 · (−0.5) is about −0.4: true
}
