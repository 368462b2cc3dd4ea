package onnx

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/pcl/analytic"
	"github.com/parallelcl/parallelcl/pcl/model"
)

// sums gives the scores of a classifier of sums, a column for each output: those of the class that
// classes names, −∞ where it has none.
func (g *graph) sums(x model.Value, m *analytic.Map, classes []int, outputs int) (model.Value, error) {
	features, columns := len(m.Projection), len(m.Weights)
	if features == 0 {
		features = columns
	}
	if want := g.network.Model.Inputs(); features != want {
		return "", fmt.Errorf("sums of %d features; the samples have %d", features, want)
	}
	h := g.node("Mul", []model.Value{x, g.scalar(255)})
	if g.network.Backbone == nil {
		h = g.node("Round", []model.Value{h}) // samples are bytes
	}
	if m.Projection != nil {
		r := g.constant("projection", []int{features, columns}, slices.Concat(m.Projection...))
		h = g.node("Div", []model.Value{g.ReLU(g.node("MatMul", []model.Value{h, r})), g.scalar(float32(m.Divide))})
		h = g.node("Min", []model.Value{g.node("Floor", []model.Value{h}), g.scalar(255)})
	}
	weights, added := make([]float32, columns*outputs), make([]float32, outputs)
	for o := range outputs {
		at := -1
		if o < len(classes) {
			at = slices.Index(m.Classes, classes[o])
		}
		if at < 0 {
			added[o] = float32(math.Inf(-1))
			continue
		}
		added[o] = float32(m.Added[at])
		for i := range columns {
			weights[i*outputs+o] = float32(m.Weights[i][at])
		}
	}
	scores := g.node("Gemm", []model.Value{h, g.constant("weights of sums", []int{columns, outputs}, weights),
		g.constant("added", []int{outputs}, added)})
	if m.Unit {
		length := g.node("ReduceL2", []model.Value{h}, ints("axes", 1), integer("keepdims", 1))
		scores = g.node("Div", []model.Value{scores, length})
	}
	return scores, nil
}
