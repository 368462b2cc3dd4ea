package model

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// Loss is what a network is trained for, where it is not the cross-entropy of classes. A sample then has target values,
// which follow its inputs, and the outputs of its task are compared with them. [SquaredError], [BinaryCrossEntropy] and
// [LossFunc] are such losses. [ClassLoss] is another loss of classes.
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
	return oneEach(l.Name, outputs.Value, l.F(outputs.Value, targets))
}

// oneEach checks what a function of the user's own has made of the outputs.
func oneEach(name string, outputs, each *graph.Node) Dual {
	if got, want := each.Shape(), outputs.Shape(); got.Rank() != 1 || got.Dimensions[0] != want.Dimensions[0] {
		panic(fmt.Errorf("model: loss %s of outputs %s is %s; want one value for each sample, [%d]", name, want, got, want.Dimensions[0]))
	}
	return Dual{Value: each}
}

// ClassLoss is a loss of classes in place of the cross-entropy. Samples have classes and no target values, and everything
// that is about classes stays: evaluation, predictions, and methods that predict by nearest means or adjust logits.
type ClassLoss struct {
	Name string // stands for what F does: see [Loss].Key
	// F returns the loss of each sample [B] from the logits of all outputs [B, outputs] and the number of the output of
	// its class [B], int32. Outputs that do not compete for the sample have the logit -1e30, and so the probability 0.
	F func(logits, label *graph.Node) *graph.Node
}

func (l ClassLoss) Key() string { return "class-" + l.Name }

// Targets returns 0: there are no target values.
func (l ClassLoss) Targets() int { return 0 }

// Losses is given the logits and, in place of target values, the labels.
func (l ClassLoss) Losses(logits Dual, label *graph.Node) Dual {
	return oneEach(l.Name, logits.Value, l.F(logits.Value, label))
}
