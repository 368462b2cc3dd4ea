package optim

import "github.com/gomlx/gomlx/core/graph"

// SGD is plain gradient descent, θ ← θ − γd.
type SGD struct {
	LR float64 // γ
}

func (o SGD) Validate() error       { return checkRate(o.LR) }
func (o SGD) Key() string           { return "sgd" }
func (o SGD) State() []string       { return nil }
func (o SGD) Scalars(int) []float32 { return []float32{float32(o.LR)} }

func (o SGD) Step(state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	return []*graph.Node{graph.Sub(state[0], graph.Mul(element(scalars, 0), d))}
}
