package model

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// Loss is what a network is trained for, where it is not the cross-entropy of classes. A sample
// then has target values, which follow its inputs, and the outputs of its task are compared with
// them. [SquaredError], [BinaryCrossEntropy] and [LossFunc] make such losses. [ClassLoss] makes
// another loss of classes.
type Loss interface {
	// Key names the loss. Losses with equal keys share compiled programs.
	Key() string
	// Targets returns n, the number of a sample's target values, and of its task's outputs; 0 for a
	// loss of classes.
	Targets() int
	// Losses returns the loss of each sample [B] from the outputs [B, n] and the target values [B,
	// n]. A loss of classes is given all logits and, in place of target values, the labels. It
	// computes the tangent if the outputs have one; if it does not, memory editing takes a second
	// derivative.
	Losses(outputs Dual, targets *graph.Node) Dual
}

type ownLoss struct {
	key     string
	targets int
	losses  func(outputs Dual, targets *graph.Node) Dual
}

func (l ownLoss) Key() string                                   { return l.key }
func (l ownLoss) Targets() int                                  { return l.targets }
func (l ownLoss) Losses(outputs Dual, targets *graph.Node) Dual { return l.losses(outputs, targets) }

// SquaredError is the mean of the squared differences between a sample's outputs and its n target
// values.
func SquaredError(n int) Loss {
	return ownLoss{fmt.Sprintf("squared-%d", n), n, func(outputs Dual, targets *graph.Node) Dual {
		d := Sum(outputs, Dual{Value: graph.Neg(targets)})
		return lift(func(n *graph.Node) *graph.Node { return graph.ReduceMean(n, 1) }, times(d, d))
	}}
}

// BinaryCrossEntropy is the mean over a sample's n outputs of the cross-entropy between the sigmoid
// of the output and its target value in [0,1]: a sample may belong to several classes, or to none.
func BinaryCrossEntropy(n int) Loss {
	return ownLoss{fmt.Sprintf("binary-%d", n), n, func(outputs Dual, targets *graph.Node) Dual {
		z := outputs.Value
		// log(1+eᶻ) − yz, written so that no exponential overflows
		softplus := graph.Add(graph.MaxScalar(z, 0), graph.Log1P(graph.Exp(graph.Neg(graph.Abs(z)))))
		return outputs.Chain(graph.ReduceMean(graph.Sub(softplus, graph.Mul(targets, z)), 1),
			func(dz *graph.Node) *graph.Node {
				return graph.ReduceMean(graph.Mul(graph.Sub(graph.Sigmoid(z), targets), dz), 1)
			})
	}}
}

// LossFunc is a loss that is a function of graph nodes: f returns the loss of each sample [B] from
// the outputs [B, n] and the target values [B, n]. The name stands for what f does: see [Loss].Key.
// It panics without a name.
func LossFunc(name string, n int, f func(outputs, targets *graph.Node) *graph.Node) Loss {
	return ownLoss{fmt.Sprintf("func-%s-%d", name, n), n, oneEach(name, f)}
}

// ClassLoss is a loss of classes in place of the cross-entropy. Samples have classes and no target
// values, and everything that is about classes stays: evaluation, predictions, and methods that
// predict by nearest means or adjust logits.
//
// f returns the loss of each sample [B] from the logits of all outputs [B, outputs] and the number
// of the output of its class [B], int32. Outputs that do not compete for the sample have the logit
// -1e30, and so the probability 0.
func ClassLoss(name string, f func(logits, label *graph.Node) *graph.Node) Loss {
	return ownLoss{"class-" + name, 0, oneEach(name, f)}
}

// oneEach checks what a function of the user's own makes of the outputs.
func oneEach(name string, f func(outputs, targets *graph.Node) *graph.Node) func(outputs Dual,
	targets *graph.Node) Dual {
	if name == "" || f == nil {
		panic("model: a loss needs a name, by which compiled programs are kept apart, and a function")
	}
	return func(outputs Dual, targets *graph.Node) Dual {
		each := f(outputs.Value, targets)
		if got, want := each.Shape(), outputs.Value.Shape(); got.Rank() != 1 || got.Dimensions[0] != want.Dimensions[0] {
			panic(fmt.Errorf("model: loss %s of outputs %s is %s; want one value for each sample, [%d]", name, want, got,
				want.Dimensions[0]))
		}
		return Dual{Value: each}
	}
}
