package pcl

import (
	"fmt"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// auxiliary owns the sets of parameters that methods ask for beside θ. They are on the device.
type auxiliary struct {
	remembered compute.Buffer    // θ as it was when the method last asked to remember it
	ended      endedTasks        // the tasks that had ended by then
	taught     []int             // their outputs, in no particular order
	ahead      compute.Buffer    // where the last virtual step led
	detached   [2]compute.Buffer // a second network, trained separately, and its momentum
	statistics []float32         // the running statistics of that network
}

func (x *auxiliary) free() {
	program.Free(x.remembered, x.ahead, x.detached[0], x.detached[1])
	*x = auxiliary{}
}

// remember copies the given parameters to the device and keeps them as remembered.
func (x *auxiliary) remember(b compute.Backend, theta []float32, ended endedTasks, taught []int) error {
	copied, err := program.ToDevice(b, theta, len(theta))
	if err != nil {
		return err
	}
	program.Free(x.remembered)
	x.remembered, x.ended, x.taught = copied, ended, taught
	return nil
}

// restart replaces the detached network by a new one without momentum.
func (x *auxiliary) restart(b compute.Backend, theta, statistics []float32) error {
	program.Free(x.detached[:]...)
	x.detached = [2]compute.Buffer{}
	for i, values := range [][]float32{theta, make([]float32, len(theta))} {
		var err error
		if x.detached[i], err = program.ToDevice(b, values, len(values)); err != nil {
			return err
		}
	}
	x.statistics = statistics
	return nil
}

// point returns the parameters that a point stands for. As long as nothing was remembered,
// [rehearsal.Remembered] stands for the current ones. It panics if the method has not made them.
func (n *network) point(p rehearsal.Point) compute.Buffer {
	x := &n.auxiliary
	theta := map[rehearsal.Point]compute.Buffer{
		rehearsal.Current: n.theta, rehearsal.Remembered: x.remembered,
		rehearsal.Virtual: x.ahead, rehearsal.Retrained: x.detached[0],
	}[p]
	switch {
	case theta != nil:
		return theta
	case p == rehearsal.Remembered:
		return n.theta
	}
	panic(fmt.Sprintf("it asks for parameters (%d) that it has not made", p))
}
