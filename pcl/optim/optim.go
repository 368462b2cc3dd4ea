// Package optim holds the optimisers, which turn the direction of an update into a step of the parameters. Begin
// with [Adam] or [SGD]; [Config] describes any of them in a configuration file.
package optim

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
)

// Optimizer turns a direction d into a step of all parameters. [Adam], [AdamW] and [SGD] are
// optimisers; [Scheduled] changes the step size of another one. To write one of your own, build its step from graph
// nodes.
type Optimizer interface {
	// Validate returns an error if the settings are not allowed.
	Validate() error
	// Key names everything that is fixed when Step is compiled. Optimisers with equal keys share compiled programs.
	Key() string
	// State names the vectors that the optimiser remembers. Each is as long as θ, and zero before the first step.
	State() []string
	// Scalars returns the numbers of step t, counted from 1, that may differ from step to step. There are as many in
	// every step; the first is the step size.
	Scalars(t int) []float32
	// Step builds one step along d. state is θ followed by the vectors that State names, all as long as d. The
	// result is their values after the step.
	Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node
}

// Steps are made in float32, in which a smaller number may count as 0. An ε of 0 would make 0/0 of every entry of d
// that is 0.
const least = 0x1p-126

func checkRate(lr float64) error {
	if !(lr > 0) || lr > math.MaxFloat32 || lr < least {
		return fmt.Errorf("learning rate %g is not a positive number from %.2g to %.2g, which float32 holds", lr, least, math.MaxFloat32)
	}
	return nil
}

// checkEpsilon returns an error if a guard against division by 0 is not allowed. 0 stands for the default.
func checkEpsilon(x float64) error {
	if x != 0 && !(x >= least && x <= math.MaxFloat32) {
		return fmt.Errorf("ε=%g is not a number from %.2g to %.2g, which float32 holds, or 0 for the default", x, least, math.MaxFloat32)
	}
	return nil
}

// checkDecay returns an error if a weight decay is not allowed.
func checkDecay(x float64) error {
	if !(x >= 0 && x <= math.MaxFloat32) {
		return fmt.Errorf("weight decay %g is not a number from 0 to %.2g, which float32 holds", x, math.MaxFloat32)
	}
	return nil
}

// share reports whether x is at least 0 and below 1; a NaN is not.
func share(x float64) bool { return x >= 0 && x < 1 }

// element returns x[i] as a vector with one entry, so that it can be broadcast.
func element(x *graph.Node, i int) *graph.Node {
	return graph.Slice(x, graph.AxisRange(i, i+1))
}
