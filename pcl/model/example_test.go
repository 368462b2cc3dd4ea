package model_test

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/layers/attention"
	"github.com/gomlx/gomlx/ml/layers/norm"
	gomlx "github.com/gomlx/gomlx/ml/model"

	"github.com/parallelcl/parallelcl/pcl/model"
)

// Samples are 16 token ids below 1000, as numbers; they are looked up and attend to each other.
func ExampleNewScoped() {
	const vocabulary, length, width, classes = 1000, 16, 32, 4
	m, err := model.NewScoped("reader", length, classes, func(scope *gomlx.Scope, x *graph.Node) *graph.Node {
		ids := graph.ExpandAxes(graph.ConvertDType(x, dtypes.Int32), -1)
		words := layers.Embedding(scope.In("words"), ids, dtypes.Float32, vocabulary, width)
		seen := attention.MultiHeadAttention(scope.In("attention"), words, words, words, 4, 8).Done()
		return graph.ReduceMean(norm.LayerNorm(scope.In("norm"), graph.Add(words, seen), -1).Done(), 1)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Key(), m.Layout().Total, "parameters")
	// Output: scoped-reader-16-36288-4 36420 parameters
}

// residual is a network of the layers of this package, whose memory can be edited: h +
// W₂·ReLU(W₁h).
type residual struct {
	layout          model.Layout
	in, up, down    int // indices in Layout.Params of weights; their biases come next
	classifier      int
	inputs, outputs int
}

func newResidual(inputs, width, outputs int) *residual {
	m := &residual{inputs: inputs, outputs: outputs}
	dense := func(name string, from, to int) int {
		at := m.layout.Add(name+"/weights", from, to, from, to)
		m.layout.AddConstant(name+"/bias", 0, to)
		return at
	}
	m.in, m.up, m.down = dense("in", inputs, width), dense("up", width, 2*width), dense("down", 2*width, width)
	m.classifier = m.layout.AddClassifier(width, outputs)
	return m
}

func (m *residual) Key() string {
	return fmt.Sprintf("residual-%d-%d-%d", m.inputs, m.layout.Backbone, m.outputs)
}
func (m *residual) Layout() *model.Layout { return &m.layout }
func (m *residual) Inputs() int           { return m.inputs }
func (m *residual) Outputs() int          { return m.outputs }

func (m *residual) Forward(p model.Pass) model.Output {
	dense := func(x model.Dual, at int) model.Dual { return p.Dense(x, p.Params[at], p.Params[at+1]) }
	h := model.ReLU(dense(p.X, m.in))
	h = model.Sum(h, dense(model.ReLU(dense(h, m.up)), m.down))
	return model.Output{Features: h, Logits: dense(h, m.classifier)}
}

// A network of one's own with the layers of this package.
func ExampleModel() {
	m := newResidual(64, 16, 10)
	fmt.Println(m.Key(), len(m.Layout().Params), "tensors")
	// Output: residual-64-2112-10 8 tensors
}
