package model

import (
	"math"
	"math/rand/v2"
)

// Param is one tensor of parameters, or of statistics, and its place in the flat vector of all of
// them.
type Param struct {
	Name   string
	Dims   []int
	Offset int
	FanIn  int // 0: every entry starts at Start
	FanOut int
	Start  float32
}

// Size returns the number of entries of the tensor.
func (p Param) Size() int {
	n := 1
	for _, d := range p.Dims {
		n *= d
	}
	return n
}

// Layout says where each tensor of parameters lies in the flat vector θ. The tensors of the
// backbone come first, then the two of the classifier.
type Layout struct {
	Params   []Param
	Backbone int // how many entries of θ belong to the backbone
	Total    int // how many entries θ has
	// Classifier is the index in Params of the classifier's weights [F, outputs]. Its bias comes
	// next.
	Classifier int
	// Stats are the running statistics of batch normalisation, which have a flat vector of their
	// own.
	Stats      []Param
	StatsTotal int

	// draw returns initial values of the backbone; nil stands for those that Params describe.
	draw func(*rand.Rand) []float32
}

// AddClassifier appends the classifier's weights [features, outputs] and its bias, and returns the
// index of the weights in Params. The tensors added before it are the backbone.
func (l *Layout) AddClassifier(features, outputs int) int {
	l.Backbone = l.Total
	l.Classifier = l.Add("classifier/weights", features, outputs, features, outputs)
	l.AddConstant("classifier/bias", 0, outputs)
	return l.Classifier
}

// Add appends a tensor with random starting values and returns its index in Params. fanIn and
// fanOut are the numbers of inputs and outputs that each entry has to do with; the larger they are,
// the smaller are the starting values ([Layout.Init]).
func (l *Layout) Add(name string, fanIn, fanOut int, dims ...int) int {
	return l.append(Param{Name: name, Dims: dims, FanIn: fanIn, FanOut: fanOut})
}

// AddConstant appends a vector of n equal starting values and returns its index in Params.
func (l *Layout) AddConstant(name string, start float32, n int) int {
	return l.append(Param{Name: name, Dims: []int{n}, Start: start})
}

func (l *Layout) append(p Param) int {
	p.Offset = l.Total
	l.Params = append(l.Params, p)
	l.Total += p.Size()
	return len(l.Params) - 1
}

// addStat appends a vector of n running statistics with equal starting values and returns its index
// in Stats.
func (l *Layout) addStat(name string, start float32, n int) int {
	l.Stats = append(l.Stats, Param{Name: name, Dims: []int{n}, Offset: l.StatsTotal, Start: start})
	l.StatsTotal += n
	return len(l.Stats) - 1
}

// Init draws the starting values of the parameters. Weights are Glorot-uniform, biases 0, and
// scales 1; the parameters of a [NewScoped] network are as its initialisers say. The running
// statistics are means of 0 and variances of 1; nil if there are none.
func (l *Layout) Init(rng *rand.Rand) (theta, statistics []float32) {
	theta = constants(l.Params, l.Total)
	if l.draw != nil {
		copy(theta[:l.Backbone], l.draw(rng))
	}
	for _, p := range l.Params {
		if p.FanIn == 0 {
			continue
		}
		bound := math.Sqrt(6 / float64(p.FanIn+p.FanOut))
		for i := range p.Size() {
			theta[p.Offset+i] = float32((2*rng.Float64() - 1) * bound)
		}
	}
	return theta, constants(l.Stats, l.StatsTotal)
}

func constants(params []Param, total int) []float32 {
	if total == 0 {
		return nil
	}
	out := make([]float32, total)
	for _, p := range params {
		for i := range p.Size() {
			out[p.Offset+i] = p.Start
		}
	}
	return out
}
