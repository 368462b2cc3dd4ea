package model

import "github.com/gomlx/gomlx/core/graph"

// MaxPool takes the maximum of each 2×2 window of x [B,H,W,C], with stride 2; H and W must be even.
// If several pixels of a window have the maximum, each gets an equal share of the derivative.
// GoMLX's own maximum gives each of them all of it, so that an area of one colour would count up to
// four times.
func MaxPool(x Dual) Dual {
	d := x.Value.Shape().Dimensions
	windows := lift(func(n *graph.Node) *graph.Node {
		return graph.Reshape(n, d[0], d[1]/2, 2, d[2]/2, 2, d[3])
	}, x)
	share := sharesOfMax(windows.Value)
	return lift(func(n *graph.Node) *graph.Node { return graph.ReduceSum(graph.Mul(n, share), 2, 4) }, windows)
}

// sharesOfMax returns 1/k at the k entries of each window that are equal to its maximum, and 0
// elsewhere.
func sharesOfMax(windows *graph.Node) *graph.Node {
	windows = graph.StopGradient(windows)
	largest := graph.ReduceAndKeep(windows, graph.ReduceMax, 2, 4)
	at := graph.ConvertDType(graph.Equal(windows, largest), windows.DType())
	return graph.StopGradient(graph.Div(at, graph.ReduceAndKeep(at, graph.ReduceSum, 2, 4)))
}

// AveragePool is the mean over all pixels, [B,H,W,C] to [B,C].
func AveragePool(x Dual) Dual {
	return lift(func(n *graph.Node) *graph.Node { return graph.ReduceMean(n, 1, 2) }, x)
}
