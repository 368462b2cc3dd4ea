package model

import (
	"math"

	"github.com/gomlx/gomlx/core/graph"
)

// MaxPool takes the maximum of each 2×2 window of x [B,H,W,C], with stride 2; H and W must be even.
// If several pixels of a window have the maximum, each gets an equal share of the derivative.
// GoMLX's own maximum gives each of them all of it, so that an area of one colour would count up to
// four times.
func MaxPool(x Dual) Dual {
	d := x.Value.Shape().Dimensions
	windows := lift(func(n *graph.Node) *graph.Node {
		return graph.Reshape(n, d[0], d[1]/2, 2, d[2]/2, 2, d[3])
	}, x)
	share := sharesOfMax(windows.Value, 2, 4)
	return lift(func(n *graph.Node) *graph.Node { return graph.ReduceSum(graph.Mul(n, share), 2, 4) }, windows)
}

// OverlappingMaxPool takes the maximum of 3×3 pixels around every second one of x [B,H,W,C], of
// those that there are: [B,⌈H/2⌉,⌈W/2⌉,C]. Ties share the derivative, as in [MaxPool].
func OverlappingMaxPool(x Dual) Dual {
	share := sharesOfMax(overlapping(x.Value, math.Inf(-1)), 0)
	return lift(func(n *graph.Node) *graph.Node { return graph.ReduceSum(graph.Mul(overlapping(n, 0), share), 0) }, x)
}

// overlapping returns the windows of [OverlappingMaxPool], [9,B,⌈H/2⌉,⌈W/2⌉,C], with a value around
// the image.
func overlapping(x *graph.Node, around float64) *graph.Node {
	d := x.Shape().Dimensions
	high, wide := (d[1]+1)/2, (d[2]+1)/2
	value := graph.Scalar(x.Graph(), x.DType(), around)
	return graph.Stack(shifted(surround(surround(x, 1, 1, value), 2, 1, value), 3, 2, high, wide), 0)
}

// sharesOfMax returns 1/k at the k entries of each window that are equal to its maximum, and 0
// elsewhere.
func sharesOfMax(windows *graph.Node, axes ...int) *graph.Node {
	windows = graph.StopGradient(windows)
	largest := graph.ReduceAndKeep(windows, graph.ReduceMax, axes...)
	at := graph.ConvertDType(graph.Equal(windows, largest), windows.DType())
	return graph.StopGradient(graph.Div(at, graph.ReduceAndKeep(at, graph.ReduceSum, axes...)))
}

// AveragePool is the mean over all pixels, [B,H,W,C] to [B,C].
func AveragePool(x Dual) Dual {
	return lift(func(n *graph.Node) *graph.Node { return graph.ReduceMean(n, 1, 2) }, x)
}
