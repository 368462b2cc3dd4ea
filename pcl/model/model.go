package model

import "github.com/gomlx/gomlx/core/graph"

// Model is a backbone with one linear classifier.
type Model interface {
	// Key names the architecture: models of equal Key build the same graphs.
	Key() string
	// Layout describes the flat parameter vector, and that of the running statistics.
	Layout() *Layout
	// Inputs is the number of entries of one sample, Outputs that of its logits.
	Inputs() int
	Outputs() int
	// Forward builds one forward computation.
	Forward(p Pass) Output
}

// Pass is what one forward computation of B samples starts from.
type Pass struct {
	Params []Dual // by Layout.Params
	X      Dual   // [B, Inputs]
	// Weight [B] is the share of each sample in the statistics of the batch: 0 for padding, 1 in all.
	Weight *graph.Node
	// Running are the running statistics to normalise with, by Layout.Stats; nil normalises with the
	// batch's own.
	Running []*graph.Node

	bfloat16 bool // products in mixed precision, see [BFloat16]
}

// Output is what a forward computation gives.
type Output struct {
	Features Dual // [B, F], the classifier's input
	Logits   Dual // [B, Outputs]
	// Stats are the batch's statistics by Layout.Stats, where they were used.
	Stats []*graph.Node
}
