package pcl

import (
	"github.com/parallelcl/parallelcl/pcl/data"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// NewMLP is [model.NewMLP], so that the smallest programs need no other import.
func NewMLP(inputs int, hidden []int, outputs int) (model.Model, error) {
	return model.NewMLP(inputs, hidden, outputs)
}

// NewStream is [data.NewStream].
func NewStream(s data.Samples, epochs int, seed uint64, task int) (data.Resumable, error) {
	return data.NewStream(s, epochs, seed, task)
}

// NewPush is [data.NewPush].
func NewPush(inputs, capacity int, classes []int) (*data.Push, error) {
	return data.NewPush(inputs, capacity, classes)
}
