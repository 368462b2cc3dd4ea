package model

import "github.com/gomlx/gomlx/core/graph"

// epsilon is added to variances.
const epsilon = 1e-5

// batchNorm brings each channel to mean 0 and variance 1, then scales and shifts it. It is made of
// plain operations, so that gradients and tangents go through the batch's mean and variance.
type batchNorm struct {
	scale, shift   int // places in Layout.Params
	mean, variance int // places in Layout.Stats
}

func (l *Layout) addBatchNorm(name string, channels int) batchNorm {
	return batchNorm{
		scale: l.addConstant(name+"/scale", 1, channels), shift: l.addConstant(name+"/shift", 0, channels),
		mean: l.addStat(name+"/mean", 0, channels), variance: l.addStat(name+"/variance", 1, channels),
	}
}

// apply normalises x [B,H,W,C] with the running statistics if the pass has them, else with the
// batch's own, which it writes to stats.
func (n batchNorm) apply(p Pass, stats []*graph.Node, x Dual) Dual {
	var mean, variance Dual
	if p.Running != nil {
		mean, variance = channels(Dual{Value: p.Running[n.mean]}), channels(Dual{Value: p.Running[n.variance]})
		x = difference(x, mean)
	} else {
		average := func(v *graph.Node) *graph.Node { return averageChannels(v, p.Weight) }
		mean = lift(average, x)
		x = difference(x, mean)
		variance = lift(average, times(x, x))
		stats[n.mean], stats[n.variance] = graph.Reshape(mean.Value, -1), graph.Reshape(variance.Value, -1)
	}
	scale := times(channels(p.Params[n.scale]), inverseRoot(variance))
	return sum(times(x, scale), channels(p.Params[n.shift]))
}

// averageChannels is the mean over samples, by their weights [B] (nil: all equal), and over pixels:
// [B,H,W,C] to [1,1,1,C].
func averageChannels(x, weight *graph.Node) *graph.Node {
	if weight == nil {
		return graph.ReduceAndKeep(x, graph.ReduceMean, 0, 1, 2)
	}
	d := x.Shape().Dimensions
	share := graph.MulScalar(graph.Reshape(weight, d[0], 1, 1, 1), 1/float64(d[1]*d[2]))
	return graph.ReduceAndKeep(graph.Mul(x, share), graph.ReduceSum, 0, 1, 2)
}

// inverseRoot is 1/√(x+ε).
func inverseRoot(x Dual) Dual {
	y := Dual{Value: graph.Reciprocal(graph.Sqrt(graph.AddScalar(x.Value, epsilon)))}
	if x.Tangent != nil {
		cube := graph.Mul(y.Value, graph.Mul(y.Value, y.Value))
		y.Tangent = graph.Mul(x.Tangent, graph.MulScalar(cube, -0.5))
	}
	return y
}

func difference(a, b Dual) Dual { return sum(a, lift(graph.Neg, b)) }
