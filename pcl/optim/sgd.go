package optim

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// SGD is gradient descent, θ ← θ − γd. With momentum it is v ← μv + d and θ ← θ − γv, or θ ← θ −
// γ(d + μv) in Nesterov's form, as in PyTorch. Weight decay adds λθ to d.
type SGD struct {
	LR          float64 `param:"lr,required" default:"0.003" range:"float32 (0,inf)"` // step size γ
	Momentum    float64 `param:"momentum" default:"0" range:"[0,1)"`                  // μ
	Nesterov    bool    `param:"nesterov" default:"false"`
	WeightDecay float64 `param:"weight_decay" default:"0" range:"float32 [0,inf)"` // λ
}

// Key implements [Optimizer].
func (o SGD) Key() string {
	if o.Momentum == 0 && o.WeightDecay == 0 {
		return "sgd"
	}
	return fmt.Sprintf("sgd %g %t %g", o.Momentum, o.Nesterov, o.WeightDecay)
}

// State implements [Optimizer].
func (o SGD) State() []string {
	if o.Momentum == 0 {
		return nil
	}
	return []string{"v"}
}

// Scalars implements [Optimizer].
func (o SGD) Scalars(int) []float32 { return []float32{float32(o.LR)} }

// Step implements [Optimizer].
func (o SGD) Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	theta := state[0]
	if o.WeightDecay != 0 {
		d = graph.Add(d, graph.MulScalar(theta, o.WeightDecay))
	}
	next := []*graph.Node{nil}
	if o.Momentum != 0 {
		v := graph.Add(graph.MulScalar(state[1], o.Momentum), d)
		next = append(next, v)
		if o.Nesterov {
			d = graph.Add(d, graph.MulScalar(v, o.Momentum))
		} else {
			d = v
		}
	}
	next[0] = graph.Sub(theta, graph.Mul(element(scalars, 0), d))
	return next
}
