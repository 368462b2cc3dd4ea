package optim

import (
	"errors"
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// Adagrad divides d by the root of the sum of all squares so far (Duchi et al. 2011): s ← s + d², θ ← θ − γd/(√s + ε).
// A zero ε stands for 1e-10.
type Adagrad struct {
	LR      float64 // step size γ
	Epsilon float64
}

func (o Adagrad) withDefaults() Adagrad {
	o.Epsilon = orDefault(o.Epsilon, 1e-10)
	return o
}

// Validate implements [Optimizer].
func (o Adagrad) Validate() error {
	return errors.Join(checkEpsilon(o.Epsilon), checkRate(o.LR))
}

// Key implements [Optimizer].
func (o Adagrad) Key() string { return fmt.Sprintf("adagrad %g", o.withDefaults().Epsilon) }

// State implements [Optimizer].
func (o Adagrad) State() []string { return []string{"s"} }

// Scalars implements [Optimizer].
func (o Adagrad) Scalars(int) []float32 { return []float32{float32(o.LR)} }

// Step implements [Optimizer]. The state after θ is the sums of squares.
func (o Adagrad) Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	s := graph.Add(state[1], graph.Mul(d, d))
	step := graph.Div(d, graph.AddScalar(graph.Sqrt(s), o.withDefaults().Epsilon))
	return []*graph.Node{graph.Sub(state[0], graph.Mul(element(scalars, 0), step)), s}
}
