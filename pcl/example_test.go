package pcl_test

import (
	"context"
	"fmt"
	"log"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// dots are images of eight pixels, of which the brightest tells the class.
type dots []int // the classes

func (d dots) Len() int { return 640 }

func (d dots) Sample(i int, x []float32) (class int) {
	for p := range x {
		x[p] = float32((7*i+3*p)%11) / 20
	}
	class = d[i%len(d)]
	x[class] = 1
	return class
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// Two tasks of two classes; the second arrives while the first is being learnt.
func Example() {
	device := must(backend.Open(context.Background(), backend.Options{Name: backend.Go})) // or backend.Auto
	defer device.Close()
	learner := must(pcl.NewLearner(pcl.Options{
		Backend: device, Model: must(model.NewMLP(8, []int{32}, 4)), Method: must(method.Make(method.EMGDGMC{Tau: 5})),
		Increment: scenario.ClassIncremental, Batch: 16, Optimizer: optim.Adam{LR: 0.01},
		Memory: memory.Config{Policy: memory.PerClass, Budget: 5},
	}))
	defer learner.Close()
	for i, classes := range [][]int{{0, 1}, {2, 3}} {
		samples := dots(classes)
		stream := must(data.NewStream(samples, 1, 1234, i+1)) // one epoch of 40 batches; seed 1234; the task's number
		must(learner.Attach(pcl.Task{Classes: classes, Stream: stream, Test: samples}))
		for range 10 {
			must(learner.Step())
		}
	}
	for len(learner.Active()) > 1 { // until only the memory is left
		must(learner.Step())
	}
	fmt.Println(learner.Steps(), "steps; above 90 %:", must(learner.Evaluate(1)) > 0.9, must(learner.Evaluate(2)) > 0.9)
	// Output:
	// 50 steps; above 90 %: true true
}
