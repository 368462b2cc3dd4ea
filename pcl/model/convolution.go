package model

import "github.com/gomlx/gomlx/core/graph"

// convolution is the layer of [Layout.AddConvolution].
type convolution struct {
	weights, bias int // indices in Layout.Params; bias is −1 if there is none
	stride        int
}

// AddConvolution appends the parameters of a convolution with a kernel of the given size, which is
// odd, from in to out channels, and returns the layer. It maps images with channels last,
// [B,H,W,in], to [B,⌈H/stride⌉,⌈W/stride⌉,out]. Around the image are size/2 zeros.
func (l *Layout) AddConvolution(name string, size, in, out, stride int, bias bool) func(p Pass, x Dual) Dual {
	return l.addConvolution(name, size, in, out, stride, bias).apply
}

func (l *Layout) addConvolution(name string, size, in, out, stride int, bias bool) convolution {
	c := convolution{bias: -1, stride: stride}
	c.weights = l.Add(name+"/weights", size*size*in, size*size*out, size, size, in, out)
	if bias {
		c.bias = l.AddConstant(name+"/bias", 0, out)
	}
	return c
}

func (c convolution) apply(p Pass, x Dual) Dual {
	y := product(p.bilinear(func(x, kernel *graph.Node) *graph.Node {
		return convolve(x, kernel, c.stride)
	}), x, p.Params[c.weights])
	if c.bias >= 0 {
		y = Sum(y, channels(p.Params[c.bias]))
	}
	return y
}

// convolve returns the convolution of x [B,H,W,I] with kernel [size,size,I,O]. It is bilinear in
// both.
//
// XLA's CPU compiler is slow in two cases, for which the convolution is written as a matrix product
// instead. If the output has fewer pixels than the kernel, XLA swaps the two and makes a plain
// loop: the last stage of a ResNet-18 on images of 32×32 then took ten times as long as all other
// stages together. And the derivative by images with few channels, such as those that enter the
// stem, took five times as long as with a matrix product.
func convolve(x, kernel *graph.Node, stride int) *graph.Node {
	size, d := kernel.Shape().Dimensions[0], x.Shape().Dimensions
	high, wide := (d[1]+stride-1)/stride, (d[2]+stride-1)/stride
	if high*wide < size*size || (d[3] < fewChannels && onCPU(x)) {
		out := kernel.Shape().Dimensions[3]
		y := graph.Dot(patches(x, size, stride, high, wide), graph.Reshape(kernel, -1, out)).Product()
		return graph.Reshape(y, d[0], high, wide, out)
	}
	margin := size / 2
	return graph.Convolve(x, kernel).Strides(stride).PaddingPerDim([][2]int{{margin, margin}, {margin, margin}}).Done()
}

// fewChannels is the number of channels from which on XLA's own convolution is used on a CPU.
const fewChannels = 8

// patches returns a row for each pixel of the output, [B·high·wide,size·size·I]. The row holds the
// size×size pixels of the input [B,H,W,I] that the output pixel depends on, in the order of the
// kernel.
func patches(x *graph.Node, size, stride, high, wide int) *graph.Node {
	zero := graph.ScalarZero(x.Graph(), x.DType())
	x = surround(surround(x, 1, size/2, zero), 2, size/2, zero)
	all := shifted(x, size, stride, high, wide)
	for i, pixels := range all {
		all[i] = graph.Reshape(pixels, -1, x.Shape().Dimensions[3]) // a list, which XLA joins pixel by pixel
	}
	return graph.Concatenate(all, 1)
}

// shifted returns, for each place of a kernel, the pixels that it meets.
func shifted(x *graph.Node, size, stride, high, wide int) (all []*graph.Node) {
	for i := range size {
		for j := range size {
			all = append(all, graph.Slice(x, graph.AxisRange(),
				graph.AxisRange(i, i+(high-1)*stride+1).Stride(stride), graph.AxisRange(j, j+(wide-1)*stride+1).Stride(stride)))
		}
	}
	return all
}

// surround adds a value on both sides of an axis. It does not use GoMLX's Pad, which has no
// derivative.
func surround(x *graph.Node, axis, margin int, value *graph.Node) *graph.Node {
	if margin == 0 {
		return x
	}
	shape := x.Shape().Clone()
	shape.Dimensions[axis] = margin
	border := graph.BroadcastToShape(value, shape)
	return graph.Concatenate([]*graph.Node{border, x, border}, axis)
}

// channels reshapes a vector [C] to [1,1,1,C], so that it can be added to images.
func channels(v Dual) Dual {
	return lift(func(n *graph.Node) *graph.Node { return graph.Reshape(n, 1, 1, 1, -1) }, v)
}
