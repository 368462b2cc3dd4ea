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

// Key implements [Optimizer].
func (o AdamW) Key() string { return fmt.Sprintf("adamw %g %s", o.WeightDecay, o.Adam.Key()) }

// Step implements [Optimizer]. The state after θ is that of [Adam].
func (o AdamW) Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	next := o.Adam.Step(state, d, scalars)
	decay := graph.Mul(element(scalars, 0), graph.MulScalar(state[0], o.WeightDecay))
	next[0] = graph.Sub(next[0], decay)
	return next
}

// AdamOf returns the settings, defaults filled in, of an optimiser that makes the steps of [Adam] or [AdamW], scheduled or not.
func AdamOf(o Optimizer) (AdamW, bool) {
	switch o := o.(type) {
	case Scheduled:
		return AdamOf(o.Optimizer)
	case Adam:
		return AdamW{Adam: o.withDefaults()}, true
	case AdamW:
		o.Adam = o.Adam.withDefaults()
		return o, true
	}
	return AdamW{}, false
}
