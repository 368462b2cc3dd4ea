package pcl_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// newLearner has eight inputs and four outputs.
func newLearner(device *backend.Backend) *pcl.Learner {
	return must(pcl.New(context.Background(), pcl.Options{
		Backend: device, Model: must(model.NewMLP(8, []int{32}, 4)), Method: &method.EMGDGMC{Tau: 5},
		Increment: "class", Batch: 16, Optimizer: optim.Adam{LR: 0.01},
		Memory: memory.Config{Policy: "per_class", Budget: 5},
	}))
}

// Two goroutines push samples while a third trains, until the stream has ended.
func ExampleLearner_Run() {
	ctx := context.Background()
	device := must(backend.Open(ctx, backend.Options{Name: backend.Go}))
	defer device.Close()
	learner := newLearner(device)
	defer learner.Close()
	stream := must(pcl.NewPushStream(8, 64, []int{0, 1})) // 8 values a sample; up to 64 samples wait
	id := must(learner.Attach(pcl.Task{Classes: []int{0, 1}, Stream: stream}))

	var producers sync.WaitGroup
	for class := range 2 {
		producers.Go(func() {
			x := make([]float32, 8)
			for i := range 200 {
				dots{class}.Sample(i, x)
				must(stream.Push(ctx, x, class)) // waits while the stream is full
			}
		})
	}
	go func() { producers.Wait(); stream.End() }()

	check(learner.Run(ctx, pcl.Hooks{}))
	fmt.Println("task", id, "has ended;", learner.Memory().Len(), "samples of it are in the memory")
	// Output: task 1 has ended; 10 samples of it are in the memory
}

// A snapshot predicts from any goroutine, and stays as it is while the learner trains.
func ExampleLearner_Snapshot() {
	device := must(backend.Open(context.Background(), backend.Options{Name: backend.Go}))
	defer device.Close()
	learner := newLearner(device)
	defer learner.Close()
	task := dots{0, 1, 2}
	must(learner.Attach(pcl.Task{Classes: task, Stream: must(data.NewStream(task, 1, 1234, 1))}))
	for range 40 {
		must(learner.Step())
	}
	predictor := must(learner.Snapshot())
	defer predictor.Close()

	x := make([]float32, 16) // two samples, one after another
	task.Sample(1, x[:8])
	task.Sample(5, x[8:])
	for _, p := range must(predictor.Predict(x)) {
		fmt.Println("class", p.Class, "of", p.Classes, "above 50 %:", p.Probabilities[p.Class] > 0.5)
	}
	among := must(predictor.Predict(x[:8], 0, 2))[0] // one sample, among two of the classes
	fmt.Println("among", among.Classes)
	// Output:
	// class 1 of [0 1 2] above 50 %: true
	// class 2 of [0 1 2] above 50 %: true
	// among [0 2]
}

// A task is dropped before its stream has ended, and comes back later.
func ExampleLearner_Detach() {
	device := must(backend.Open(context.Background(), backend.Options{Name: backend.Go}))
	defer device.Close()
	learner := newLearner(device)
	defer learner.Close()
	task := dots{0, 1}
	id := must(learner.Attach(pcl.Task{Classes: task, Stream: must(data.NewStream(task, 1, 1234, 1))}))
	must(learner.Step())
	check(learner.Pause(id)) // the stream is left alone
	fmt.Println("running:", learner.Running())
	check(learner.Resume(id))
	check(learner.Detach(id, true)) // what was collected of its samples enters the memory
	fmt.Println("running:", learner.Running(), "classes:", learner.Classes(), "in the memory:", learner.Memory().Len())
	check(learner.Reattach(id, pcl.Task{Stream: must(data.NewStream(task, 1, 1234, 2))}))
	fmt.Println("running:", learner.Running(), "arrived:", learner.LastID())
	// Output:
	// running: []
	// running: [] classes: [0 1] in the memory: 10
	// running: [1] arrived: 1
}
