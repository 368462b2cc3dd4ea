package model

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gomlx/gomlx/core/graph"
)

// Param is one tensor of a model inside its flat vector.
type Param struct {
	Name   string
	Dims   []int
	Offset int
	FanIn  int // 0: starts at zero (biases)
	FanOut int
}

// Size returns the number of entries.
func (p Param) Size() int {
	n := 1
	for _, d := range p.Dims {
		n *= d
	}
	return n
}

// Layout orders the parameters: the backbone's, then the classifier's.
type Layout struct {
	Params   []Param
	Backbone int // entries of the backbone
	Total    int // entries of backbone and classifier
	// Stats are the running statistics of batch normalisation, in a flat vector of their own.
	Stats      []Param
	StatsTotal int
}

func (l *Layout) add(name string, fanIn, fanOut int, dims ...int) {
	p := Param{Name: name, Dims: dims, Offset: l.Total, FanIn: fanIn, FanOut: fanOut}
	l.Params = append(l.Params, p)
	l.Total += p.Size()
}

// Init draws the starting parameters: Glorot-uniform weights, zero biases.
func (l *Layout) Init(rng *rand.Rand) []float32 {
	theta := make([]float32, l.Total)
	for _, p := range l.Params {
		if p.FanIn == 0 {
			continue
		}
		bound := math.Sqrt(6 / float64(p.FanIn+p.FanOut))
		for i := range p.Size() {
			theta[p.Offset+i] = float32((2*rng.Float64() - 1) * bound)
		}
	}
	return theta
}

// Split cuts a flat vector node [Total] into one node per parameter. Gradients are taken with
// respect to these, and joined again by [Join]: differentiating through the cuts would add up
// zero-padded copies of the whole vector.
func (l *Layout) Split(theta *graph.Node) []*graph.Node {
	if theta.Shape().Size() != l.Total {
		panic(fmt.Errorf("model: a parameter vector of %d entries, want %d", theta.Shape().Size(), l.Total))
	}
	out := make([]*graph.Node, len(l.Params))
	for i, p := range l.Params {
		flat := graph.Slice(theta, graph.AxisRange(p.Offset, p.Offset+p.Size()))
		out[i] = graph.Reshape(flat, p.Dims...)
	}
	return out
}

// Join is the inverse of [Layout.Split].
func Join(parts []*graph.Node) *graph.Node {
	flat := make([]*graph.Node, len(parts))
	for i, p := range parts {
		flat[i] = graph.Reshape(p, -1)
	}
	return graph.Concatenate(flat, 0)
}
