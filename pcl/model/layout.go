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
	FanIn  int // 0: every entry starts at Start
	FanOut int
	Start  float32
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

// add appends a parameter of random start and returns its place in Params.
func (l *Layout) add(name string, fanIn, fanOut int, dims ...int) int {
	return l.append(Param{Name: name, Dims: dims, FanIn: fanIn, FanOut: fanOut})
}

// addConstant appends a vector of n equal entries and returns its place in Params.
func (l *Layout) addConstant(name string, start float32, n int) int {
	return l.append(Param{Name: name, Dims: []int{n}, Start: start})
}

func (l *Layout) append(p Param) int {
	p.Offset = l.Total
	l.Params = append(l.Params, p)
	l.Total += p.Size()
	return len(l.Params) - 1
}

// addStat appends a running statistic of n equal entries and returns its place in Stats.
func (l *Layout) addStat(name string, start float32, n int) int {
	l.Stats = append(l.Stats, Param{Name: name, Dims: []int{n}, Offset: l.StatsTotal, Start: start})
	l.StatsTotal += n
	return len(l.Stats) - 1
}

// Init draws the starting parameters: Glorot-uniform weights, zero biases, scales of 1.
func (l *Layout) Init(rng *rand.Rand) []float32 {
	theta := constants(l.Params, l.Total)
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

// InitStats returns the running statistics before the first batch: means of 0, variances of 1.
func (l *Layout) InitStats() []float32 { return constants(l.Stats, l.StatsTotal) }

func constants(params []Param, total int) []float32 {
	out := make([]float32, total)
	for _, p := range params {
		for i := range p.Size() {
			out[p.Offset+i] = p.Start
		}
	}
	return out
}

// Classifier returns the place in Params of the classifier's weights [F, outputs]; its bias follows.
func (l *Layout) Classifier() int {
	for i, p := range l.Params {
		if p.Offset == l.Backbone {
			return i
		}
	}
	panic("model: a layout without a classifier")
}

// Split cuts a flat vector node [Total] into one node per parameter. Gradients are taken with
// respect to these, and joined again by [Join]: differentiating through the cuts would add up
// zero-padded copies of the whole vector.
func (l *Layout) Split(theta *graph.Node) []*graph.Node {
	return split("parameter", theta, l.Params, l.Total)
}

// SplitStats cuts the running statistics [StatsTotal] into one node for each of Stats; [Join] is its
// inverse.
func (l *Layout) SplitStats(stats *graph.Node) []*graph.Node {
	return split("statistics", stats, l.Stats, l.StatsTotal)
}

func split(what string, flat *graph.Node, params []Param, total int) []*graph.Node {
	if flat.Shape().Size() != total {
		panic(fmt.Errorf("model: a %s vector of %d entries, want %d", what, flat.Shape().Size(), total))
	}
	out := make([]*graph.Node, len(params))
	for i, p := range params {
		part := graph.Slice(flat, graph.AxisRange(p.Offset, p.Offset+p.Size()))
		out[i] = graph.Reshape(part, p.Dims...)
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
