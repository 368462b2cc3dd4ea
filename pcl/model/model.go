package model

import "github.com/gomlx/gomlx/core/graph"

// Model is a network: a backbone followed by one linear classifier.
type Model interface {
	// Key names the architecture. Models with equal keys build the same graphs and share compiled
	// programs.
	Key() string
	// Layout describes the flat vectors of the parameters and of the running statistics.
	Layout() *Layout
	// Inputs returns the number of pixels of a sample, Outputs the number of its logits.
	Inputs() int
	Outputs() int
	// Forward builds the computation of features and logits from a batch of samples.
	Forward(p Pass) Output
}

// plan is what the networks of this package say about themselves.
type plan struct {
	key             string
	inputs, outputs int
	layout          Layout
}

func (p *plan) Key() string     { return p.key }
func (p *plan) Layout() *Layout { return &p.layout }
func (p *plan) Inputs() int     { return p.inputs }
func (p *plan) Outputs() int    { return p.outputs }

// Pass is the input of one forward computation, for B samples.
type Pass struct {
	Params []Dual // in the order of Layout.Params
	X      Dual   // the samples' pixels, [B, Inputs]
	// Weight [B] is each sample's share in the statistics of the batch. It is 0 for padding, and
	// the shares add up to 1.
	Weight *graph.Node
	// Running are the running statistics to normalise with, in the order of Layout.Stats. If it is
	// nil, the batch's own statistics are used.
	Running []*graph.Node

	bfloat16 bool // whether products are in mixed precision, see [BFloat16]
}

// Output is the result of a forward computation.
type Output struct {
	Features Dual // [B, F], the classifier's input
	Logits   Dual // [B, Outputs]
	// Stats are the batch's own statistics in the order of Layout.Stats, if they were used.
	Stats []*graph.Node
}
