package pcl

import (
	"runtime"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// network owns what training changes of the model, on the device: θ, the optimiser's state, the
// running statistics, and the copies of θ that methods ask for; and the programs that compute with
// them.
type network struct {
	options    *Options // of which the network changes one, the model, when the classifier grows
	programs   *device.Trainer
	theta      compute.Buffer
	state      []compute.Buffer // the vectors that the optimiser remembers
	statistics []float32        // running statistics, in the order of model.Layout.Stats; nil if there are none
	updates    int              // how many updates were made: Adam's t
	edition    int              // how often θ may have changed
	auxiliary  auxiliary
}

// draw draws the first parameters, once programs are compiled for the loss.
func (n *network) draw(loss rehearsal.Loss) error {
	theta, statistics := n.layout().Init(seed.New(n.options.Seed, "init").Rand)
	n.statistics = statistics
	if err := n.compile(loss); err != nil {
		return err
	}
	return n.begin(theta)
}

// compile compiles the program that every step needs, unless a learner that shares it has done so.
// Others are compiled when they are first needed.
func (n *network) compile(loss rehearsal.Loss) error {
	o, lanes := n.options, 1
	if o.Backend.Info.Name == backend.Go { // which computes small operations on one core; XLA has threads of its own
		lanes = runtime.GOMAXPROCS(0)
	}
	var edits *device.At // which fails if the network lacks the second derivative
	if o.Edit.Eta > 0 {
		edits = new(o.Edit.where(n.now()))
	}
	made, err := o.Programs.cache.Trainer(o.spec(), lanes, loss, edits)
	if err != nil {
		return err
	}
	if n.programs != nil {
		n.programs.Close()
	}
	n.programs = made
	return nil
}

// useModel takes a model with another number of outputs, for a caller that replaces the parameters.
// If it fails, nothing has changed.
func (n *network) useModel(m model.Model, loss rehearsal.Loss) error {
	old := n.options.Model
	if m.Outputs() == old.Outputs() {
		return nil
	}
	n.options.Model = m
	if err := n.compile(loss); err != nil {
		n.options.Model = old
		return err
	}
	return nil
}

// begin sets θ. The optimiser starts anew.
func (n *network) begin(theta []float32) error {
	zeros := [][]float32{make([]float32, len(theta))}
	return n.set(theta, slices.Repeat(zeros, len(n.options.Optimizer.State())))
}

// set copies θ and the vectors of the optimiser's state to the device.
func (n *network) set(theta []float32, state [][]float32) error {
	n.free()
	n.edition++
	var err error
	if n.theta, err = program.ToDevice(n.options.Backend, theta, len(theta)); err != nil {
		return err
	}
	for _, values := range state {
		vector, err := program.ToDevice(n.options.Backend, values, len(theta))
		if err != nil {
			return err
		}
		n.state = append(n.state, vector)
	}
	return nil
}

// free releases θ and the optimiser's state.
func (n *network) free() {
	program.Free(append(n.state, n.theta)...)
	n.theta, n.state = nil, nil
}

// close releases everything on the device.
func (n *network) close() {
	n.free()
	if n.programs != nil {
		n.programs.Close()
	}
	n.auxiliary.free()
}

// vectors are θ and the optimiser's state.
func (n *network) vectors() []*compute.Buffer {
	all := []*compute.Buffer{&n.theta}
	for i := range n.state {
		all = append(all, &n.state[i])
	}
	return all
}

func (n *network) layout() *model.Layout { return n.options.Model.Layout() }

func (n *network) total() int { return n.layout().Total }

// read returns a vector of as many entries as θ. It may share memory with the device, and is valid
// until the buffer changes.
func (n *network) read(b compute.Buffer) ([]float32, error) {
	return program.Read[float32](b, n.total())
}

// parameters returns a copy of θ.
func (n *network) parameters() ([]float32, error) {
	theta, err := n.read(n.theta)
	return slices.Clone(theta), err
}

// at pairs parameters on the device with their running statistics: their own for a network that was
// trained apart, otherwise the present ones.
func (n *network) at(theta compute.Buffer) device.At {
	if x := &n.auxiliary; theta == x.detached[0] && x.statistics != nil {
		return device.At{Theta: theta, Running: x.statistics}
	}
	return device.At{Theta: theta, Running: n.statistics}
}

func (n *network) now() device.At { return n.at(n.theta) }

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
