// Package optim holds the optimisers, which turn the direction of an update into a step of the parameters. Begin
// with [Adam] or [SGD]; [Config] describes any of them in a configuration file.
package optim

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
)

// Optimizer turns a direction d into a step of all parameters. [Adam], [AdamW], [SGD], [RMSprop] and [Adagrad] are
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

func checkRate(lr float64) error {
	if !(lr > 0) || math.IsInf(lr, 1) {
		return fmt.Errorf("learning rate %g is not a positive number", lr)
	}
	return nil
}

// checkDecay returns an error if a weight decay is not allowed.
func checkDecay(x float64) error {
	if !(x >= 0) || math.IsInf(x, 1) {
		return fmt.Errorf("weight decay %g is not a number of at least 0", x)
	}
	return nil
}

// share reports whether x is at least 0 and below 1; a NaN is not.
func share(x float64) bool { return x >= 0 && x < 1 }

// element returns x[i] as a vector with one entry, so that it can be broadcast.
func element(x *graph.Node, i int) *graph.Node {
	return graph.Slice(x, graph.AxisRange(i, i+1))
}
