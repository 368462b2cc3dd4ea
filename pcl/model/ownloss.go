package model

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// Loss is what a network is trained for, where it is not the cross-entropy of classes. A sample then has target values,
// which follow its inputs, and the outputs of its task are compared with them. [SquaredError], [BinaryCrossEntropy] and
// [LossFunc] are losses.
type Loss interface {
	// Key names the loss. Losses with equal keys share compiled programs.
	Key() string
	// Targets returns n, the number of a sample's target values, and of its task's outputs.
	Targets() int
	// Losses returns the loss of each sample [B] from the outputs [B, n] and the target values [B, n]. It computes the
	// tangent if the outputs have one; if it does not, memory editing takes a second derivative.
	Losses(outputs Dual, targets *graph.Node) Dual
}

// SquaredError is the mean of the squared differences between a sample's outputs and its target values.
type SquaredError struct{ N int } // how many target values a sample has

func (l SquaredError) Key() string  { return fmt.Sprintf("squared-%d", l.N) }
func (l SquaredError) Targets() int { return l.N }

func (l SquaredError) Losses(outputs Dual, targets *graph.Node) Dual {
	d := Sum(outputs, Dual{Value: graph.Neg(targets)})
	return lift(func(n *graph.Node) *graph.Node { return graph.ReduceMean(n, 1) }, times(d, d))
}

// BinaryCrossEntropy is the mean over a sample's outputs of the cross-entropy between the sigmoid of the output and its
// target value in [0,1]: a sample may belong to several classes, or to none.
type BinaryCrossEntropy struct{ N int } // how many target values a sample has

func (l BinaryCrossEntropy) Key() string  { return fmt.Sprintf("binary-%d", l.N) }
func (l BinaryCrossEntropy) Targets() int { return l.N }

func (l BinaryCrossEntropy) Losses(outputs Dual, targets *graph.Node) Dual {
	z := outputs.Value
	// log(1+eᶻ) − yz, written so that no exponential overflows
	softplus := graph.Add(graph.MaxScalar(z, 0), graph.Log1P(graph.Exp(graph.Neg(graph.Abs(z)))))
	return dual(graph.ReduceMean(graph.Sub(softplus, graph.Mul(targets, z)), 1), outputs, func(dz *graph.Node) *graph.Node {
		return graph.ReduceMean(graph.Mul(graph.Sub(graph.Sigmoid(z), targets), dz), 1)
	})
}

// LossFunc is a loss that is a function of graph nodes.
type LossFunc struct {
	Name string // stands for what F does: see [Loss].Key
	N    int    // how many target values a sample has
	// F returns the loss of each sample [B] from the outputs [B, N] and the target values [B, N].
	F func(outputs, targets *graph.Node) *graph.Node
}

func (l LossFunc) Key() string  { return fmt.Sprintf("func-%s-%d", l.Name, l.N) }
func (l LossFunc) Targets() int { return l.N }

func (l LossFunc) Losses(outputs Dual, targets *graph.Node) Dual {
	each := l.F(outputs.Value, targets)
	if got, want := each.Shape(), outputs.Value.Shape(); got.Rank() != 1 || got.Dimensions[0] != want.Dimensions[0] {
		panic(fmt.Errorf("model: loss %s of outputs %s is %s; want one value for each sample, [%d]", l.Name, want, got, want.Dimensions[0]))
	}
	return Dual{Value: each}
}
