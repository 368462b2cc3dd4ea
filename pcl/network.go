package pcl

import (
	"math"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// network is what training changes.
type network struct {
	theta      compute.Buffer
	state      []compute.Buffer // the optimiser's
	statistics []float32        // running, by model.Layout.Stats; nil without any
	updates    int              // made: Adam's t
}

// set uploads θ and the optimiser's n vectors; nil vectors are zero.
func (n *network) set(backend compute.Backend, theta []float32, state [][]float32, vectors int) error {
	n.free()
	var err error
	if n.theta, err = program.ToDevice(backend, theta, len(theta)); err != nil {
		return err
	}
	for i := range vectors {
		values := make([]float32, len(theta))
		if state != nil {
			values = state[i]
		}
		b, err := program.ToDevice(backend, values, len(theta))
		if err != nil {
			return err
		}
		n.state = append(n.state, b)
	}
	return nil
}

func (n *network) free() {
	program.Free(append(n.state, n.theta)...)
	n.theta, n.state = nil, nil
}

// resetStatistics sets the running statistics to those before any batch.
func (n *network) resetStatistics(l *model.Layout) {
	if l.StatsTotal > 0 {
		n.statistics = l.InitStats()
	}
}

// momentum is the share of the old running statistics that a batch leaves.
const momentum = 0.9

// observe takes the statistics of a batch into the running ones, unless they are not finite.
func (n *network) observe(batch []float32) {
	for _, x := range batch {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return
		}
	}
	for i, x := range batch {
		n.statistics[i] = momentum*n.statistics[i] + (1-momentum)*x
	}
}

// others are parameters beside θ, which methods ask for.
type others struct {
	remembered compute.Buffer    // θ when the method last asked to remember it
	over       []int             // the tasks that were over then
	ahead      compute.Buffer    // of the last virtual step
	apart      [2]compute.Buffer // a network trained apart, and its momentum
}

func (o *others) free() {
	program.Free(o.remembered, o.ahead, o.apart[0], o.apart[1])
	*o = others{}
}

// remember makes remembered a copy of the given parameters.
func (o *others) remember(backend compute.Backend, theta []float32, over []int) error {
	copied, err := program.ToDevice(backend, theta, len(theta))
	if err != nil {
		return err
	}
	program.Free(o.remembered)
	o.remembered, o.over = copied, over
	return nil
}
