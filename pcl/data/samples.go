// Package data defines what a learner trains on: sets of labelled samples, and streams that deliver
// samples batch by batch. Begin with [Stream], or with [NewStream], which makes a stream of a set
// of samples.
package data

// Samples is a set of labelled samples. It can be read in any order, and by several goroutines at
// once.
type Samples interface {
	Len() int
	// Sample writes the values of sample i into x and returns its class id. Pixels are in [0,1].
	Sample(i int, x []float32) (class int)
}

// Batch is a batch of samples that a stream fills, with room for len(Class) samples.
type Batch struct {
	X     []float32 // [len(Class)][inputs], row-major; images in [0,1]
	Class []int     // class ids
	N     int       // how many samples were filled in; at least 1
	// Repeat says that these samples have been in an earlier batch already, as in a second epoch.
	// The rehearsal memory then does not count them again.
	Repeat bool
}

// Fill reads b.N samples of s into the batch. Its i-th sample is sample at(i) of s.
func (b *Batch) Fill(s Samples, at func(i int) int) {
	width := len(b.X) / len(b.Class)
	for i := range b.N {
		b.Class[i] = s.Sample(at(i), b.X[i*width:(i+1)*width])
	}
}
