package main

import (
	"context"

	"github.com/parallelcl/parallelcl/pcl"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/memory"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/scenario"
)

// newLearner chooses the network and how it learns. Call the function that it returns in the end.
func newLearner(ctx context.Context, name string, inputs, outputs int) (*pcl.Learner, func(), error) {
	rule, err := method.New("emgd", nil)
	if err != nil {
		return nil, nil, err
	}
	net, err := model.NewMLP(inputs, []int{128, 64}, outputs)
	if err != nil {
		return nil, nil, err
	}
	device, err := backend.Open(ctx, backend.Options{Name: name})
	if err != nil {
		return nil, nil, err
	}
	learner, err := pcl.NewLearner(pcl.Options{
		Backend: device, Model: net, Method: rule, Increment: scenario.ClassIncremental, Batch: 32,
		Optimizer: optim.Adam{LR: 0.003}, Memory: memory.Config{Policy: memory.PerClass, Budget: 20},
	})
	if err != nil {
		device.Close()
		return nil, nil, err
	}
	return learner, func() { learner.Close(); device.Close() }, nil
}

// newTask has a stream that samples are pushed into. Up to 1024 wait to be trained on.
func newTask(inputs int, name string, classes []int) (pcl.Task, error) {
	stream, err := data.NewPush(inputs, 1024, classes)
	return pcl.Task{Name: name, Classes: classes, Stream: stream}, err
}
