package pcl

import (
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// NewMLP is [model.NewMLP], so that the smallest programs need no other import.
func NewMLP(inputs int, hidden []int, outputs int) (model.Model, error) {
	return model.NewMLP(inputs, hidden, outputs)
}

// NewStream returns a stream for [Task.Stream] that delivers all samples as many times as there are
// epochs, in a new random order in each epoch. The orders follow from seed, the seed of the run,
// and task, a number that differs for each task of the run, such as its id: streams with the same
// two numbers have the same orders. The samples are a [data.Samples], which has the methods Len()
// int and Sample(i int, x []float32) (class int). See also [data.NewStream].
func NewStream(s data.Samples, epochs int, seed uint64, task int) (data.Resumable, error) {
	return data.NewStream(s, epochs, seed, task)
}

// NewPushStream is [data.NewPushStream].
func NewPushStream(inputs, capacity int, classes []int) (*data.PushStream, error) {
	return data.NewPushStream(inputs, capacity, classes)
}
