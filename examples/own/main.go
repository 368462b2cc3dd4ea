// Command own is pcl with a network, a method and a part of a rehearsal of its own in it:
//
//	go run ./examples/own run --dataset glyphs --model cnn --method same-length+older
package main

import (
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/activation"
	gomlx "github.com/gomlx/gomlx/ml/model"

	"github.com/parallelcl/parallelcl/cli"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

func main() {
	model.Register("cnn", newCNN)
	cli.Main()
}

// newCNN returns a network of two convolutions, with as many channels in the first as --width says.
func newCNN(s model.Sizes) (model.Model, error) {
	channels := s.StemChannels
	if channels == 0 {
		channels = 16
	}
	return model.NewScoped("cnn", s.Inputs(), s.Outputs, func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
		batch := x.Shape().Dimensions[0]
		x = graph.Reshape(x, batch, s.Height, s.Width, s.Channels)
		for i := range 2 {
			in := scope.In("layer%d", i)
			x = layers.Convolution(in, x).Channels(channels << i).KernelSize(3).PadSame().Strides(2).UseBias(false).Done()
			x = activation.Relu(model.ScopedBatchNorm(in.In("norm"), x))
		}
		return graph.Reshape(x, batch, -1)
	})
}

func init() {
	method.Register(method.Info{
		Name: "same-length", Title: "Same length", Family: "mtl", Rule: "wᵢ = n̄/(K nᵢ), nᵢ = ‖Jᵢ‖",
		Source: "examples/own", Cost: "K(F+B) + K norms", State: "none", SumW: "at least 1",
	}, func() method.Method { return new(sameLength) })
	rehearsal.Register(rehearsal.Info{
		Name: "older", Title: "older first", Does: "samples of tasks that arrived earlier are replayed more often",
		Source: "examples/own", Cost: "none", State: "none", Axes: []string{"replay"},
	}, func() rehearsal.Part { return new(older) })
}

// sameLength gives every stream's gradient Jᵢ the same length: d = 1/K Σ (n̄/nᵢ) Jᵢ, where nᵢ =
// ‖Jᵢ‖ has the mean n̄.
type sameLength struct{}

// Needs asks for the Gram matrix JJᵀ.
func (*sameLength) Needs() method.Needs { return method.Needs{Gram: true} }

// Weights reads the lengths from the diagonal of the Gram matrix, which lies there row by row.
func (*sameLength) Weights(s *method.Step, w []float64) (method.Outcome, error) {
	k, mean := len(s.IDs), 0.0
	for i := range k {
		w[i] = math.Sqrt(s.Gram[i*k+i])
		mean += w[i] / float64(k)
	}
	for i, n := range w {
		if n > 0 { // a stream without a gradient has nothing to say
			w[i] = mean / (n * float64(k))
		}
	}
	return method.Outcome{}, nil
}
