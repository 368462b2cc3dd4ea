// Package optim turns directions into steps of the parameters.
package optim

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
)

// Optimizer turns a direction d into a step of all parameters. [Adam] and [SGD] are optimisers; one of your
// own has to build its step from graph nodes.
type Optimizer interface {
	// Validate says what is wrong with its settings.
	Validate() error
	// Key names everything that Step compiles in: optimisers of equal Key share compiled programs.
	Key() string
	// State names the vectors that it remembers, each as long as θ and zero before the first step.
	State() []string
	// Scalars returns the numbers that change from step to step, for step t (from 1). There is at least
	// one, and always the same number of them.
	Scalars(t int) []float32
	// Step builds one step. state is θ followed by the vectors of State, all of d's length; the result is
	// their values after the step.
	Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node
}

// Config is an optimiser by its name, as configuration files hold it.
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

// WithDefaults replaces zero values of Adam's settings by those that they stand for.
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

// element is x[i] as a vector of one entry, which broadcasts.
func element(x *graph.Node, i int) *graph.Node {
	return graph.Slice(x, graph.AxisRange(i, i+1))
}
