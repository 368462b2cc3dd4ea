// Package optim holds the optimisers, which turn the direction of an update into a step of the
// parameters. Begin with [Adam] or [SGD]; [Config] describes any of them in a configuration file.
package optim

import (
	"errors"
	"reflect"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/params"
)

// Optimizer turns a direction d into a step of all parameters. [Adam] and [SGD] are optimisers;
// [Scheduled] changes the step size of another one. To write one of your own, build its step from
// graph nodes.
type Optimizer interface {
	// Key names everything that is fixed when Step is compiled. Optimisers with equal keys share
	// compiled programs.
	Key() string
	// State names the vectors that the optimiser remembers. Each is as long as θ, and zero before
	// the first step.
	State() []string
	// Scalars returns the numbers of step t, counted from 1, that may differ from step to step.
	// There are as many in every step; the first is the step size.
	Scalars(t int) []float32
	// Step builds one step along d. state is θ followed by the vectors that State names, all as
	// long as d. The result is their values after the step.
	Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node
}

// Check returns an error if a setting of an optimiser of this package is not allowed. Steps are
// made in float32, in which a number below 2⁻¹²⁶ may count as 0: an ε of 0 would make 0/0 of every
// entry of d that is 0.
//
// One of your own may have Validate() error, which is asked.
func Check(o Optimizer) (err error) {
	if at := reflect.ValueOf(o); at.Kind() == reflect.Pointer {
		if inner, ok := at.Elem().Interface().(Optimizer); ok {
			return Check(inner)
		}
	}
	switch o := o.(type) {
	case interface{ Validate() error }:
		return o.Validate()
	case Scheduled:
		if o.Optimizer == nil {
			return errors.New("schedule: it has no optimiser: set Scheduled.Optimizer")
		}
		return errors.Join(Check(o.Optimizer), o.Schedule.check())
	case Adam:
		err = params.Fill(&o)
	case SGD:
		if o.Nesterov && o.Momentum == 0 {
			return errors.New("nesterov belongs to a momentum above 0")
		}
		err = params.Fill(&o)
	}
	return err
}

// element returns x[i] as a vector with one entry, so that it can be broadcast.
func element(x *graph.Node, i int) *graph.Node {
	return graph.Slice(x, graph.AxisRange(i, i+1))
}
