package onnx

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/model"
)

// Backbone is a network in front of the one of a file. The file then takes pictures of bytes,
// [N, Height, Width, Channels], under the name "pixels". The features v of the backbone, of length
// |v|, give the samples min(1, 4v/|v|), which are not rounded.
type Backbone struct {
	Height, Width, Channels int // of the pictures, whose channels are 1 or 3
	Size                    int // side of what the backbone sees
	// High [Size, Height] and Wide [Size, Width] resize pictures.
	High, Wide []float32
	Flips      bool // whether features are the mean of those of a picture and of its mirror image
	Layers     []Layer
	Features   int
}

// Layer is a convolution with the zeros around the image that TensorFlow adds.
type Layer struct {
	Name         string
	Size, Stride int
	Groups       int
	Kernel       []float32 // [Out, in, Size, Size], where in is that of a group
	Bias         []float32 // [Out]
	ReLU6        bool
	Enter, Join  bool // whether its input is kept, and added to its output
}

// pixelsName is the input of a file with a backbone.
const pixelsName = "pixels"

// samples adds the backbone to the graph, and returns what it makes of pictures.
func (b *Backbone) samples(g *graph) model.Value {
	x := g.node("Cast", []model.Value{pixelsName}, integer("to", float32s))
	if b.Channels == 1 {
		x = g.node("Concat", []model.Value{x, x, x}, integer("axis", 3))
	}
	x = g.node("Transpose", []model.Value{x}, ints("perm", 0, 3, 1, 2))
	if b.Height != b.Size || b.Width != b.Size {
		high := g.constant("resizing of rows", []int{b.Size, b.Height}, b.High)
		wide := g.constant("resizing of columns", []int{b.Size, b.Width}, b.Wide)
		x = g.node("MatMul", []model.Value{high, x})
		x = g.node("MatMul", []model.Value{x, g.node("Transpose", []model.Value{wide}, ints("perm", 1, 0))})
		x = g.clip(x, 0, 255)
	}
	x = g.node("Sub", []model.Value{x, g.scalar(127)})
	x = g.node("Mul", []model.Value{x, g.scalar(1. / 128)})
	features := b.features(g, x)
	if b.Flips {
		axis := func(name string, v int64) model.Value { return g.constant(name, []int{1}, []int64{v}) }
		from, to := axis("last column", -1), axis("before the first", -1<<31)
		mirrored := g.node("Slice", []model.Value{x, from, to, axis("columns", 3), axis("back", -1)})
		features = g.node("Mean", []model.Value{features, b.features(g, mirrored)})
	}
	length := g.node("ReduceL2", []model.Value{features}, ints("axes", 1), integer("keepdims", 1))
	unit := g.node("Div", []model.Value{features, length})
	return g.node("Min", []model.Value{g.node("Mul", []model.Value{unit, g.scalar(4)}), g.scalar(1)})
}

// features adds the layers.
func (b *Backbone) features(g *graph, x model.Value) model.Value {
	side, kept := b.Size, x
	for _, l := range b.Layers {
		if l.Enter {
			kept = x
		}
		out := (side + l.Stride - 1) / l.Stride
		around := max(0, (out-1)*l.Stride+l.Size-side)
		before, after := around/2, around-around/2
		channels := len(l.Bias)
		dims := []int{channels, len(l.Kernel) / (channels * l.Size * l.Size), l.Size, l.Size}
		in := []model.Value{x, g.constant(l.Name, dims, l.Kernel), g.constant(l.Name+"/bias", []int{channels}, l.Bias)}
		x = g.node("Conv", in, ints("kernel_shape", l.Size, l.Size), ints("strides", l.Stride, l.Stride),
			ints("pads", before, before, after, after), integer("group", l.Groups))
		if l.ReLU6 {
			x = g.clip(x, 0, 6)
		}
		if l.Join {
			x = g.Add(x, kept)
		}
		side = out
	}
	return g.AveragePool(x)
}

func (g *graph) scalar(x float32) model.Value {
	return g.constant(fmt.Sprintf("the number %g", x), nil, []float32{x})
}

func (g *graph) clip(x model.Value, lo, hi float32) model.Value {
	return g.node("Clip", []model.Value{x, g.scalar(lo), g.scalar(hi)})
}
