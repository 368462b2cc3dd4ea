package model

import (
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	gomlx "github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/model/initializer"
)

// The names of the variables that hold running statistics.
const (
	runningMean     = "running_mean"
	runningVariance = "running_variance"
)

func isStatistic(name string) bool { return name == runningMean || name == runningVariance }

// sampleShares is the graph's parameter with Pass.Weight.
const sampleShares = "/parallelcl_sample_shares"

// ScopedBatchNorm is batch normalisation over the last axis of x [B, …, C], for the backbone of a
// [NewScoped] network. Like the networks of this package it leaves padding out of the batch's
// statistics, and lets the learner average them.
func ScopedBatchNorm(scope *gomlx.Scope, x *graph.Node) *graph.Node {
	g, shape := x.Graph(), x.Shape()
	channels := shape.Dimensions[shape.Rank()-1]
	vector := shapes.Make(shape.DType, channels)
	value := func(name string, initial gomlx.VariableInitializer, trainable bool) *gomlx.Variable {
		return scope.WithInitializer(initial).VariableWithShape(name, vector).SetTrainable(trainable)
	}
	scale, shift := value("scale", initializer.One, true), value("shift", initializer.Zero, true)
	mean, variance := value(runningMean, initializer.Zero, false), value(runningVariance, initializer.One, false)

	flat := graph.Reshape(x, shape.Dimensions[0], -1, 1, channels)
	n := batchNorm{scale: 0, shift: 1, mean: 0, variance: 1}
	pass := Pass{Params: []Dual{{Value: scale.NodeValue(g)}, {Value: shift.NodeValue(g)}}}
	var stats [2]*graph.Node
	if scope.IsTraining(g) {
		if share, there := gomlx.GetGraphParam(g, sampleShares); there {
			pass.Weight, _ = share.(*graph.Node)
		}
	} else {
		pass.Running = []*graph.Node{mean.NodeValue(g), variance.NodeValue(g)}
	}
	y := n.apply(pass, stats[:], Dual{Value: flat}).Value
	if scope.IsTraining(g) {
		mean.SetNodeValue(stats[0])
		variance.SetNodeValue(stats[1])
	}
	return graph.Reshape(y, shape.Dimensions...)
}
