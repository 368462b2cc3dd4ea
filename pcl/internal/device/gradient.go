package device

import (
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Gradient is the gradient of one row's loss on the device, together with what the host has read of it. It must
// be freed.
type Gradient struct {
	Flat       compute.Buffer // [parameters]; nil until it is computed
	loss       compute.Buffer // a scalar
	statistics compute.Buffer // the statistics of the batch; nil if the model has none

	// The following are set when the gradient has been read by a [Readout].

	Value      float64   // the loss
	Private    float64   // the squared norm over the private parameters, if inner products were asked for
	Statistics []float32 // the statistics of the batch; valid until the gradient is freed
}

// Free releases the buffers.
func (g *Gradient) Free() {
	program.Free(g.Flat, g.loss, g.statistics)
	*g = Gradient{}
}

// Along returns the inner product of the gradient, over all parameters, with a direction.
func (g *Gradient) Along(d []float32) float64 { return ddot(program.Read[float32](g.Flat, len(d)), d) }

// Differentiate computes the gradients of a loss at θ, or at its parts ([Parts]), on batches, whose targets must have been set
// ([Batch.Aim]).
func Differentiate(s *graphs.Set, theta []compute.Buffer, loss rehearsal.Loss, batches ...*Batch) []Gradient {
	p, all := s.Gradient(loss, len(theta) > 1, len(batches)), slices.Clone(theta)
	for _, b := range batches {
		in, done := b.Inputs(s.Backend, graphs.Referenced(loss))
		defer done()
		all = append(all, in...)
	}
	out := p.Call(all...)
	gradients := make([]Gradient, len(batches))
	each := len(out) / len(batches)
	for i := range gradients {
		g, own := &gradients[i], out[i*each:]
		if g.Flat, g.loss = own[0], own[1]; each > 2 {
			g.statistics = own[2]
		}
	}
	return gradients
}

// Given returns a loss and its gradient [parameters] that were computed on the host as if they were those of a batch.
// The batch's statistics are zeros, which must not be used.
func Given(s *graphs.Set, loss float64, flat []float32) (g Gradient) {
	g.Flat = program.ToDevice(s.Backend, flat, len(flat))
	g.loss = program.ToDevice(s.Backend, []float32{float32(loss)})
	if n := s.Model.Layout().StatsTotal; n > 0 {
		g.statistics = program.ToDevice(s.Backend, make([]float32, n), n)
	}
	return g
}

// read brings the loss and the n statistics to the host.
func (g *Gradient) read(n int) {
	g.Value = float64(program.Read[float32](g.loss, 1)[0])
	if n > 0 {
		g.Statistics = program.Read[float32](g.statistics, n)
	}
}

// Matrix returns copies of the first n rows of a buffer [B, width].
func Matrix(b compute.Buffer, n int) [][]float32 {
	shape := fail.Or(b.Shape())
	width := shape.Dimensions[1]
	return slices.Collect(slices.Chunk(program.Values[float32](b, shape.Size())[:n*width], width))
}
