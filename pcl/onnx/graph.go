package onnx

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/pcl/model"
)

// graph collects the nodes and constants of a file. Images within it have their channels first, as
// ONNX wants them.
type graph struct {
	network   Network
	layout    *model.Layout
	nodes     [][]byte
	constants [][]byte
	added     map[string]bool // constants
}

// node adds an operation and returns its result.
func (g *graph) node(op string, in []model.Value, attributes ...attribute) model.Value {
	out := model.Value(fmt.Sprintf("%s_%d", op, len(g.nodes)))
	g.named(op, in, out, attributes...)
	return out
}

func (g *graph) named(op string, in []model.Value, out model.Value, attributes ...attribute) {
	var m message
	for _, v := range in {
		m.text(nodeInput, string(v))
	}
	m.text(nodeOutput, string(out))
	m.text(nodeName, string(out))
	m.text(nodeOp, op)
	for _, set := range attributes {
		var a message
		set(&a)
		m.bytes(nodeAttribute, a)
	}
	g.nodes = append(g.nodes, m)
}

// output gives a result the name of an output, and describes it.
func (g *graph) output(v model.Value, name string, width int) []byte {
	g.named("Identity", []model.Value{v}, model.Value(name))
	return valueInfo(name, float32s, width)
}

// constant adds a tensor of float32 or int64, once.
func (g *graph) constant(name string, dims []int, values any) model.Value {
	if !g.added[name] {
		g.added[name] = true
		g.constants = append(g.constants, tensor(name, dims, values))
	}
	return model.Value(name)
}

func (g *graph) values(i int) (model.Param, []float32) {
	p := g.layout.Params[i]
	return p, g.network.Parameters[p.Offset : p.Offset+p.Size()]
}

func (g *graph) parameter(i int) model.Value {
	p, values := g.values(i)
	return g.constant(p.Name, p.Dims, values)
}

func (g *graph) statistic(i int) model.Value {
	p := g.layout.Stats[i]
	return g.constant(p.Name, p.Dims, g.network.Statistics[p.Offset:p.Offset+p.Size()])
}

func (g *graph) Dense(x model.Value, weights, bias int) model.Value {
	return g.node("Gemm", []model.Value{x, g.parameter(weights), g.parameter(bias)})
}

func (g *graph) ReLU(x model.Value) model.Value { return g.node("Relu", []model.Value{x}) }

func (g *graph) Add(a, b model.Value) model.Value { return g.node("Add", []model.Value{a, b}) }

func (g *graph) Images(x model.Value, height, width, channels int) model.Value {
	shape := g.constant(fmt.Sprintf("shape %d %d %d", height, width, channels), []int{4},
		[]int64{-1, int64(height), int64(width), int64(channels)})
	return g.node("Transpose", []model.Value{g.node("Reshape", []model.Value{x, shape})}, ints("perm", 0, 3, 1, 2))
}

func (g *graph) Convolution(x model.Value, weights, bias, stride int) model.Value {
	p, values := g.values(weights)
	size, in, out := p.Dims[0], p.Dims[2], p.Dims[3]
	kernel := make([]float32, len(values)) // [k,k,I,O] to [O,I,k,k]
	for place := range size * size {
		for i := range in {
			for o := range out {
				kernel[(o*in+i)*size*size+place] = values[(place*in+i)*out+o]
			}
		}
	}
	inputs := []model.Value{x, g.constant(p.Name, []int{out, in, size, size}, kernel)}
	if bias >= 0 {
		inputs = append(inputs, g.parameter(bias))
	}
	margin := size / 2
	return g.node("Conv", inputs, ints("kernel_shape", size, size), ints("strides", stride, stride),
		ints("pads", margin, margin, margin, margin))
}

func (g *graph) BatchNorm(x model.Value, scale, shift, mean, variance int, epsilon float32) model.Value {
	in := []model.Value{x, g.parameter(scale), g.parameter(shift), g.statistic(mean), g.statistic(variance)}
	return g.node("BatchNormalization", in, float("epsilon", epsilon))
}

func (g *graph) MaxPool(x model.Value) model.Value {
	return g.node("MaxPool", []model.Value{x}, ints("kernel_shape", 2, 2), ints("strides", 2, 2))
}

func (g *graph) OverlappingMaxPool(x model.Value) model.Value {
	return g.node("MaxPool", []model.Value{x}, ints("kernel_shape", 3, 3), ints("strides", 2, 2), ints("pads", 1, 1, 1, 1))
}

func (g *graph) AveragePool(x model.Value) model.Value {
	return g.node("Flatten", []model.Value{g.node("GlobalAveragePool", []model.Value{x})})
}

// unit divides each row by its length, or by the least one if it is shorter.
func (g *graph) unit(x model.Value) model.Value {
	squares := g.node("ReduceSumSquare", []model.Value{x}, ints("axes", 1), integer("keepdims", 1))
	length := g.node("Sqrt", []model.Value{
		g.node("Max", []model.Value{squares, g.constant("least square", nil, []float32{1e-24})})})
	return g.node("Div", []model.Value{x, length})
}

// cosines returns the scaled cosines of the angles between features and the classifier's weights.
func (g *graph) cosines(features model.Value, width int) model.Value {
	_, weights := g.values(g.layout.Classifier)
	outputs := len(weights) / width
	squares := make([]float64, outputs)
	for i, w := range weights {
		squares[i%outputs] += float64(w) * float64(w)
	}
	if g.network.Scores.Frobenius {
		total := 0.0
		for _, s := range squares {
			total += s
		}
		for o := range squares {
			squares[o] = total
		}
	}
	scaled := make([]float32, len(weights))
	for i, w := range weights {
		scaled[i] = float32(g.network.Scores.Sharpness * float64(w) / math.Sqrt(squares[i%outputs]+1e-24))
	}
	directions := g.constant("classifier directions", []int{width, outputs}, scaled)
	return g.node("MatMul", []model.Value{g.unit(features), directions})
}

// distances are −d² = 2f·m − f·f − m·m.
func (g *graph) distances(features model.Value, width int) model.Value {
	outputs := g.network.Model.Outputs()
	double, squares := make([]float32, width*outputs), make([]float32, outputs)
	for o := range outputs {
		if o >= len(g.network.Means) || g.network.Means[o] == nil {
			squares[o] = float32(math.Inf(1))
			continue
		}
		total := 0.0
		for i, x := range g.network.Means[o] {
			double[i*outputs+o] = 2 * x
			total += float64(x) * float64(x)
		}
		squares[o] = float32(total)
	}
	f := g.unit(features)
	products := g.node("MatMul", []model.Value{f, g.constant("twice the means", []int{width, outputs}, double)})
	own := g.node("ReduceSumSquare", []model.Value{f}, ints("axes", 1), integer("keepdims", 1))
	return g.node("Sub", []model.Value{g.node("Sub", []model.Value{products, own}),
		g.constant("squares of the means", []int{outputs}, squares)})
}
