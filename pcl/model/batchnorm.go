package model

import (
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
)

// epsilon is added to variances, so that they can be divided by.
const epsilon = 1e-5

// batchNorm is the layer of [Layout.AddBatchNorm]. It is built from elementary operations, so that
// gradients and tangents pass through the batch's mean and variance.
type batchNorm struct {
	scale, shift   int // indices in Layout.Params
	mean, variance int // indices in Layout.Stats
}

// AddBatchNorm appends the parameters and the running statistics of a batch normalisation, and
// returns the layer. It normalises each channel of x [B,H,W,C] to mean 0 and variance 1, then
// scales and shifts it: with the running statistics if the pass has them, otherwise with the
// batch's own, which it writes to stats in the order of Layout.Stats.
func (l *Layout) AddBatchNorm(name string, channels int) func(p Pass, stats []*graph.Node, x Dual) Dual {
	return l.addBatchNorm(name, channels).apply
}

func (l *Layout) addBatchNorm(name string, channels int) batchNorm {
	return batchNorm{
		scale: l.AddConstant(name+"/scale", 1, channels), shift: l.AddConstant(name+"/shift", 0, channels),
		mean: l.addStat(name+"/mean", 0, channels), variance: l.addStat(name+"/variance", 1, channels),
	}
}

func (n batchNorm) apply(p Pass, stats []*graph.Node, x Dual) Dual {
	images := x.Value
	d := images.Shape().Dimensions
	x = lift(func(v *graph.Node) *graph.Node { return graph.Reshape(v, -1, d[3]) }, x)
	var variance Dual
	if p.Running != nil {
		x = centre(x, Dual{Value: p.Running[n.mean]})
		variance = Dual{Value: p.Running[n.variance]}
	} else {
		share := shareOfPixels(images, p.Weight)
		average := func(v *graph.Node) *graph.Node { return sumRows(share, v) }
		mean := lift(average, x)
		x = centre(x, mean)
		variance = lift(average, times(x, x))
		stats[n.mean], stats[n.variance] = mean.Value, variance.Value
	}
	scale := times(p.Params[n.scale], inverseRoot(variance))
	x = Sum(times(x, spread(scale, x)), spread(p.Params[n.shift], x))
	return lift(func(v *graph.Node) *graph.Node { return graph.Reshape(v, d...) }, x)
}

// centre subtracts a mean [C] from each row of x [N,C].
func centre(x, mean Dual) Dual { return Sum(x, spread(lift(graph.Neg, mean), x)) }

// shareOfPixels returns the share of each pixel of x [B,H,W,C] in an average, [B·H·W]. It is the
// share of the pixel's sample, divided by the number of pixels of a sample. weight [B] are the
// samples' shares; nil makes them equal.
func shareOfPixels(x, weight *graph.Node) *graph.Node {
	d := x.Shape().Dimensions
	if weight == nil {
		weight = graph.MulScalar(graph.Ones(x.Graph(), shapes.Make(x.DType(), d[0])), 1/float64(d[0]))
	}
	share := graph.MulScalar(graph.Reshape(weight, d[0], 1), 1/float64(d[1]*d[2]))
	return graph.Reshape(graph.BroadcastToDims(share, d[0], d[1]*d[2]), -1)
}

// sumRows returns Σᵢ wᵢ·xᵢ over the rows of x [N,C], for weights w [N].
//
// On a CPU, sumRows and spread are written as matrix products, each of which is the derivative of
// the other. If they were a reduction and a broadcast, XLA's CPU compiler would fuse everything
// that leads to x, forward and backward, into a loop that it does not vectorise: a gradient of
// ResNet-18 then took a fifth longer, an edit two fifths. XLA's GPU compiler fuses reductions well.
func sumRows(w, x *graph.Node) *graph.Node {
	if onCPU(x) {
		return graph.DotGeneral(w, []int{0}, nil, x, []int{0}, nil)
	}
	return graph.ReduceSum(graph.Mul(graph.Reshape(w, -1, 1), x), 0)
}

// spread repeats v [C] for each row of x [N,C].
func spread(v, x Dual) Dual {
	n, c := x.Value.Shape().Dimensions[0], x.Value.Shape().Dimensions[1]
	return lift(func(v *graph.Node) *graph.Node {
		if onCPU(v) {
			return graph.DotGeneral(graph.Ones(v.Graph(), shapes.Make(v.DType(), n)), nil, nil, v, nil, nil)
		}
		return graph.BroadcastToDims(graph.Reshape(v, 1, c), n, c)
	}, v)
}

// inverseRoot returns 1/√(x+ε).
func inverseRoot(x Dual) Dual {
	y := graph.Reciprocal(graph.Sqrt(graph.AddScalar(x.Value, epsilon)))
	return x.Chain(y, func(dx *graph.Node) *graph.Node {
		cube := graph.Mul(y, graph.Mul(y, y))
		return graph.Mul(dx, graph.MulScalar(cube, -0.5))
	})
}
