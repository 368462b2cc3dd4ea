// Package optim holds the optimisers, which turn the direction of an update into a step of the parameters. Begin
// with [Adam] or [SGD].
package optim

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
)

// Optimizer turns a direction d into a step of all parameters. [Adam] and [SGD] are optimisers. To write another
// one, build its step from graph nodes.
type Optimizer interface {
	// Validate returns an error if the settings are not allowed.
	Validate() error
	// Key names everything that is fixed when Step is compiled. Optimisers with equal keys share compiled programs.
	Key() string
	// State names the vectors that the optimiser remembers. Each is as long as θ, and zero before the first step.
	State() []string
	// Scalars returns the numbers of step t, counted from 1, that may differ from step to step. There is at least
	// one of them, and in every step the same number.
	Scalars(t int) []float32
	// Step builds one step along d. state is θ followed by the vectors that State names, all as long as d. The
	// result is their values after the step.
	Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node
}

// Config describes an optimiser in a configuration file.
type Config struct {
	Name string  `json:"name" toml:"name"` // "adam" or "sgd"
	LR   float64 `json:"lr" toml:"lr"`     // step size γ
	// Beta1, Beta2 and Epsilon are Adam's; zero values stand for 0.9, 0.999 and 1e-7.
	Beta1   float64 `json:"beta1,omitempty" toml:"beta1"`
	Beta2   float64 `json:"beta2,omitempty" toml:"beta2"`
	Epsilon float64 `json:"epsilon,omitempty" toml:"epsilon"`
}

// New returns the optimiser that the configuration describes.
func (c Config) New() (Optimizer, error) {
	var o Optimizer
	switch c.Name {
	case "adam":
		o = Adam{LR: c.LR, Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon}
	case "sgd":
		if c.Beta1 != 0 || c.Beta2 != 0 || c.Epsilon != 0 {
			return nil, fmt.Errorf("beta1, beta2 and epsilon belong to the optimizer \"adam\", not to \"sgd\"")
		}
		o = SGD{LR: c.LR}
	default:
		return nil, fmt.Errorf("optimizer %q is neither \"adam\" nor \"sgd\"", c.Name)
	}
	return o, o.Validate()
}

// WithDefaults replaces zero values of Adam's settings by the values that they stand for.
func (c Config) WithDefaults() Config {
	if c.Name == "adam" {
		a := Adam{LR: c.LR, Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon}.withDefaults()
		c.Beta1, c.Beta2, c.Epsilon = a.Beta1, a.Beta2, a.Epsilon
	}
	return c
}

func checkRate(lr float64) error {
	if !(lr > 0) || math.IsInf(lr, 1) {
		return fmt.Errorf("learning rate %g is not a positive number", lr)
	}
	return nil
}

// element returns x[i] as a vector with one entry, so that it can be broadcast.
func element(x *graph.Node, i int) *graph.Node {
	return graph.Slice(x, graph.AxisRange(i, i+1))
}
