package features

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// The graph has images with channels last. A convolution of each channel with a kernel of its own
// is a sum of products with shifted images, which XLA's CPU compiler joins into one loop: six to
// nine times as fast as a grouped convolution there.

// scaled returns pictures [B,H,W,C] of bytes as the backbone takes them: of size×size pixels and
// three channels, with the values (x−127)/128.
func scaled(x, high, wide *graph.Node, size int) *graph.Node {
	return graph.MulScalar(graph.AddScalar(resized(x, high, wide, size), -127), 1.0/128)
}

// resized returns pictures of size×size pixels and three channels.
func resized(x, high, wide *graph.Node, size int) *graph.Node {
	d := x.Shape().Dimensions
	y := graph.ConvertDType(x, dtypes.Float32)
	if d[3] == 1 {
		y = graph.Concatenate([]*graph.Node{y, y, y}, 3)
	}
	if d[1] != size || d[2] != size {
		y = graph.Einsum("sh,bhwc->bswc", high, y)
		y = graph.Einsum("tw,bswc->bstc", wide, y)
		y = graph.ClipScalar(y, 0, 255)
	}
	return y
}

// run returns the features [B,Width] of images. params are the weights and the bias of each layer.
func (w *weights) run(x *graph.Node, params []*graph.Node) *graph.Node {
	var kept *graph.Node
	for i, l := range w.layers {
		if l.enter {
			kept = x
		}
		y := l.apply(x, params[2*i])
		y = graph.Add(y, graph.Reshape(params[2*i+1], 1, 1, 1, l.out))
		if l.relu {
			y = graph.ClipScalar(y, 0, 6)
		}
		if l.join {
			y = graph.Add(y, kept)
		}
		x = y
	}
	return graph.ReduceMean(x, 1, 2)
}

// apply returns the convolution of a layer without its bias.
func (l *layer) apply(x, kernel *graph.Node) *graph.Node {
	d := x.Shape().Dimensions
	high, wide := (d[1]+l.stride-1)/l.stride, (d[2]+l.stride-1)/l.stride
	switch {
	case l.size == 1:
		y := graph.Dot(graph.Reshape(x, -1, l.in), kernel).Product()
		return graph.Reshape(y, d[0], high, wide, l.out)
	case !l.depthwise:
		y := graph.Concatenate(l.shifted(x, high, wide), 3)
		y = graph.Dot(graph.Reshape(y, -1, l.size*l.size*l.in), kernel).Product()
		return graph.Reshape(y, d[0], high, wide, l.out)
	}
	var sum *graph.Node
	for at, pixels := range l.shifted(x, high, wide) {
		own := graph.Reshape(graph.Slice(kernel, graph.AxisRange(at, at+1)), 1, 1, 1, l.out)
		product := graph.Mul(pixels, own)
		if sum == nil {
			sum = product
			continue
		}
		sum = graph.Add(sum, product)
	}
	return sum
}

// shifted returns, for each place of the kernel, the pixels that it meets. Around the image are
// zeros, on the far side one more than on the near one if their number is odd, as in TensorFlow.
func (l *layer) shifted(x *graph.Node, high, wide int) (all []*graph.Node) {
	d := x.Shape().Dimensions
	padding := func(from, to int) graph.PadAxis {
		n := max(0, (to-1)*l.stride+l.size-from)
		return graph.PadAxis{Start: n / 2, End: n - n/2}
	}
	x = graph.Pad(x, graph.ScalarZero(x.Graph(), x.DType()), graph.PadAxis{}, padding(d[1], high), padding(d[2], wide),
		graph.PadAxis{})
	for i := range l.size {
		for j := range l.size {
			all = append(all, graph.Slice(x, graph.AxisRange(),
				graph.AxisRange(i, i+(high-1)*l.stride+1).Stride(l.stride),
				graph.AxisRange(j, j+(wide-1)*l.stride+1).Stride(l.stride)))
		}
	}
	return all
}

// dims are the dimensions of a layer's weights.
func (l *layer) dims() []int {
	if l.depthwise {
		return []int{l.size * l.size, l.out}
	}
	return []int{l.size * l.size * l.in, l.out}
}
