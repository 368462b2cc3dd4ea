package optim

import (
	"errors"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
)

// Adam is the optimiser of Kingma & Ba 2015, Algorithm 1. Zero values of β₁, β₂ and ε stand for 0.9, 0.999 and
// 1e-7.
type Adam struct {
	LR           float64 // step size γ
	Beta1, Beta2 float64
	Epsilon      float64
}

func (o Adam) withDefaults() Adam {
	o.Beta1 = orDefault(o.Beta1, 0.9)
	o.Beta2 = orDefault(o.Beta2, 0.999)
	o.Epsilon = orDefault(o.Epsilon, 1e-7)
	return o
}

func orDefault(x, otherwise float64) float64 {
	if x == 0 {
		return otherwise
	}
	return x
}

// Validate implements [Optimizer].
func (o Adam) Validate() error {
	if !share(o.Beta1) || !share(o.Beta2) {
		return fmt.Errorf("adam needs 0 ≤ β < 1; got β₁=%g, β₂=%g", o.Beta1, o.Beta2)
	}
	return errors.Join(checkEpsilon(o.Epsilon), checkRate(o.LR))
}

// Key implements [Optimizer].
func (o Adam) Key() string {
	o = o.withDefaults()
	return fmt.Sprintf("adam %g %g %g", o.Beta1, o.Beta2, o.Epsilon)
}

// State implements [Optimizer].
func (o Adam) State() []string { return []string{"m", "v"} }

// Scalars returns γ and the two bias corrections.
func (o Adam) Scalars(t int) []float32 {
	o = o.withDefaults()
	return []float32{
		float32(o.LR),
		float32(1 / (1 - math.Pow(o.Beta1, float64(t)))),
		float32(1 / (1 - math.Pow(o.Beta2, float64(t)))),
	}
}

// Step implements [Optimizer]. The state after θ is m and v, the moving means of the direction and of its square.
func (o Adam) Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	o = o.withDefaults()
	theta, m, v := state[0], state[1], state[2]
	m = graph.Add(graph.MulScalar(m, o.Beta1), graph.MulScalar(d, 1-o.Beta1))
	v = graph.Add(graph.MulScalar(v, o.Beta2), graph.MulScalar(graph.Mul(d, d), 1-o.Beta2))
	mean := graph.Mul(m, element(scalars, 1))
	root := graph.AddScalar(graph.Sqrt(graph.Mul(v, element(scalars, 2))), o.Epsilon)
	step := graph.Mul(element(scalars, 0), graph.Div(mean, root))
	return []*graph.Node{graph.Sub(theta, step), m, v}
}
