package optim

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// AdamW is [Adam] with decoupled weight decay (Loshchilov & Hutter 2019, Algorithm 2): each step also multiplies θ by
// 1 − γλ.
type AdamW struct {
	Adam
	WeightDecay float64 `param:"weight_decay" default:"0" range:"[0,3.4028234663852886e38]"` // λ
}

// Validate implements [Optimizer].
func (o AdamW) Validate() error { return check(o) }

// Key implements [Optimizer].
func (o AdamW) Key() string { return fmt.Sprintf("adamw %g %s", o.WeightDecay, o.Adam.Key()) }

// Step implements [Optimizer]. The state after θ is that of [Adam].
func (o AdamW) Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	next := o.Adam.Step(state, d, scalars)
	decay := graph.Mul(element(scalars, 0), graph.MulScalar(state[0], o.WeightDecay))
	next[0] = graph.Sub(next[0], decay)
	return next
}
