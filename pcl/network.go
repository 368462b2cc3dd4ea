package pcl

import (
	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// network is the part of the model that training changes.
type network struct {
	theta      compute.Buffer
	state      []compute.Buffer // the vectors that the optimiser remembers
	statistics []float32        // running statistics, in the order of model.Layout.Stats; nil if there are none
	updates    int              // how many updates were made: Adam's t
}

// set copies θ and the vectors of the optimiser's state to the device.
func (n *network) set(backend compute.Backend, theta []float32, state [][]float32) error {
	n.free()
	var err error
	if n.theta, err = program.ToDevice(backend, theta, len(theta)); err != nil {
		return err
	}
	for _, values := range state {
		vector, err := program.ToDevice(backend, values, len(theta))
		if err != nil {
			return err
		}
		n.state = append(n.state, vector)
	}
	return nil
}

func (n *network) free() {
	program.Free(append(n.state, n.theta)...)
	n.theta, n.state = nil, nil
}

// vectors are θ and the optimiser's state.
func (n *network) vectors() []*compute.Buffer {
	all := []*compute.Buffer{&n.theta}
	for i := range n.state {
		all = append(all, &n.state[i])
	}
	return all
}

// momentum is the weight of the old running statistics when those of a batch are averaged in.
const momentum = 0.9

// averageIn averages the statistics of a batch into running ones, unless some are not finite.
func averageIn(running, batch []float32) {
	if !fp.Finite(batch) {
		return
	}
	for i, x := range batch {
		running[i] = momentum*running[i] + (1-momentum)*x
	}
}

// others are sets of parameters that methods ask for in addition to θ.
type others struct {
	remembered compute.Buffer    // θ as it was when the method last asked to remember it
	over       endedTasks        // the tasks that had ended by then
	taught     []int             // their outputs, in no particular order
	ahead      compute.Buffer    // where the last virtual step led
	detached   [2]compute.Buffer // a second network, trained separately, and its momentum
	statistics []float32         // the running statistics of that network
}

func (o *others) free() {
	program.Free(o.remembered, o.ahead, o.detached[0], o.detached[1])
	*o = others{}
}

// remember copies the given parameters to the device and keeps them as remembered.
func (o *others) remember(backend compute.Backend, theta []float32, over endedTasks, taught []int) error {
	copied, err := program.ToDevice(backend, theta, len(theta))
	if err != nil {
		return err
	}
	program.Free(o.remembered)
	o.remembered, o.over, o.taught = copied, over, taught
	return nil
}
