package optim

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/params"
)

// Adam is the optimiser of Kingma & Ba 2015, Algorithm 1. Zero values of β₁, β₂ and ε stand for
// 0.9, 0.999 and 1e-7. With weight decay it is AdamW (Loshchilov & Hutter 2019, Algorithm 2): each
// step also multiplies θ by 1 − γλ.
type Adam struct {
	LR          float64 `param:"lr,required" range:"float32 (0,inf)" default:"0.003"` // step size γ
	Beta1       float64 `param:"beta1" default:"0.9" range:"[0,1)"`
	Beta2       float64 `param:"beta2" default:"0.999" range:"[0,1)"`
	Epsilon     float64 `param:"epsilon" default:"1e-7" range:"float32 (0,inf)"`
	WeightDecay float64 `param:"weight_decay" default:"0" range:"float32 [0,inf)"` // λ
}

// withDefaults replaces zero values by those that they stand for.
func (o Adam) withDefaults() Adam {
	_ = params.Fill(&o) // Check has the error
	return o
}

// Key implements [Optimizer].
func (o Adam) Key() string {
	o = o.withDefaults()
	key := fmt.Sprintf("adam %g %g %g", o.Beta1, o.Beta2, o.Epsilon)
	if o.WeightDecay != 0 {
		key = fmt.Sprintf("adamw %g %s", o.WeightDecay, key)
	}
	return key
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

// Step implements [Optimizer]. The state after θ is m and v, the moving averages of the direction
// and of its square.
func (o Adam) Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	o = o.withDefaults()
	theta, m, v := state[0], state[1], state[2]
	m = graph.Add(graph.MulScalar(m, o.Beta1), graph.MulScalar(d, 1-o.Beta1))
	v = graph.Add(graph.MulScalar(v, o.Beta2), graph.MulScalar(graph.Mul(d, d), 1-o.Beta2))
	mean := graph.Mul(m, element(scalars, 1))
	root := graph.AddScalar(graph.Sqrt(graph.Mul(v, element(scalars, 2))), o.Epsilon)
	step := graph.Mul(element(scalars, 0), graph.Div(mean, root))
	next := graph.Sub(theta, step)
	if o.WeightDecay != 0 {
		next = graph.Sub(next, graph.Mul(element(scalars, 0), graph.MulScalar(theta, o.WeightDecay)))
	}
	return []*graph.Node{next, m, v}
}
