package optim

import (
	"errors"
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// RMSprop divides d by a running root mean square of its entries (Tieleman & Hinton 2012), and may have momentum, as in
// PyTorch: v ← αv + (1−α)d², b ← μb + d/(√v + ε), θ ← θ − γb. Zero values of α and ε stand for 0.99 and 1e-8.
type RMSprop struct {
	LR       float64 // step size γ
	Alpha    float64
	Epsilon  float64
	Momentum float64 // μ
}

func (o RMSprop) withDefaults() RMSprop {
	o.Alpha, o.Epsilon = orDefault(o.Alpha, 0.99), orDefault(o.Epsilon, 1e-8)
	return o
}

// Validate implements [Optimizer].
func (o RMSprop) Validate() error {
	if !share(o.Alpha) || !share(o.Momentum) {
		return fmt.Errorf("rmsprop needs 0 ≤ α, μ < 1; got α=%g, μ=%g", o.Alpha, o.Momentum)
	}
	return errors.Join(checkEpsilon(o.Epsilon), checkRate(o.LR))
}

// Key implements [Optimizer].
func (o RMSprop) Key() string {
	o = o.withDefaults()
	return fmt.Sprintf("rmsprop %g %g %g", o.Alpha, o.Epsilon, o.Momentum)
}

// State implements [Optimizer].
func (o RMSprop) State() []string {
	if o.Momentum == 0 {
		return []string{"v"}
	}
	return []string{"v", "b"}
}

// Scalars implements [Optimizer].
func (o RMSprop) Scalars(int) []float32 { return []float32{float32(o.LR)} }

// Step implements [Optimizer].
func (o RMSprop) Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	o = o.withDefaults()
	v := graph.Add(graph.MulScalar(state[1], o.Alpha), graph.MulScalar(graph.Mul(d, d), 1-o.Alpha))
	step := graph.Div(d, graph.AddScalar(graph.Sqrt(v), o.Epsilon))
	next := []*graph.Node{nil, v}
	if o.Momentum != 0 {
		step = graph.Add(graph.MulScalar(state[2], o.Momentum), step)
		next = append(next, step)
	}
	next[0] = graph.Sub(state[0], graph.Mul(element(scalars, 0), step))
	return next
}
