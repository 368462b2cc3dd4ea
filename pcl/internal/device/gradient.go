package device

import (
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Gradient is the gradient of one row's loss on the device, together with what the host has read of it. It must
// be freed.
type Gradient struct {
	Flat compute.Buffer // [parameters]; nil until it is computed
	// loss, a scalar, and the statistics of the batch, if the model has any, are buffers or, of a gradient that was given, values.
	loss, statistics any

	// The following are set when the gradient has been read by a [Readout].

	Value      float64   // the loss
	Private    float64   // the squared norm over the private parameters, if inner products were asked for
	Statistics []float32 // the statistics of the batch; valid until the gradient is freed
}

// Free releases the buffers.
func (g *Gradient) Free() {
	for _, x := range []any{g.Flat, g.loss, g.statistics} {
		if b, ok := x.(compute.Buffer); ok {
			program.Free(b)
		}
	}
	*g = Gradient{}
}

// Along returns the inner product of the gradient, over all parameters, with a direction.
func (g *Gradient) Along(d []float32) float64 { return ddot(program.Read[float32](g.Flat, len(d)), d) }

// Differentiate computes the gradients of a loss at θ, or at its parts ([Parts]), on batches, whose targets must have been set
// ([Batch.Aim]).
func (p *Set) Differentiate(theta []compute.Buffer, l rehearsal.Loss, batches ...*Batch) []Gradient {
	in := []any{theta}
	for _, b := range batches {
		in = append(in, b.inputs(l))
	}
	out := p.gradient(l, len(theta) > 1, len(batches)).Call(in...)
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

// DifferentiateHalves computes the gradients on the two halves of a batch. A single sample belongs to both.
func (p *Set) DifferentiateHalves(halves *[2]compute.Buffer, theta []compute.Buffer, l rehearsal.Loss, b *Batch) {
	defer b.Count(nil)
	for h := range halves {
		b.Count(func(i int) bool { return b.N == 1 || (i < (b.N+1)/2) == (h == 0) })
		g := p.Differentiate(theta, l, b)[0]
		halves[h], g.Flat = g.Flat, nil
		g.Free()
	}
}

// Given returns a loss and its gradient [parameters] that were computed on the host as if they were those of a batch.
// The batch's statistics are zeros, which must not be used.
func (p *Set) Given(loss float64, flat []float32) Gradient {
	g := Gradient{Flat: program.ToDevice(p.Backend, flat, len(flat)), loss: []float32{float32(loss)}}
	if n := p.Model.Layout().StatsTotal; n > 0 {
		g.statistics = make([]float32, n)
	}
	return g
}

// read brings the loss and the n statistics to the host.
func (g *Gradient) read(n int) {
	g.Value = float64(onTheHost(g.loss, 1)[0])
	if n > 0 {
		g.Statistics = onTheHost(g.statistics, n)
	}
}

// onTheHost returns n values, or those of a buffer.
func onTheHost(x any, n int) []float32 {
	if values, ok := x.([]float32); ok {
		return values
	}
	return program.Read[float32](x.(compute.Buffer), n)
}

// matrix returns copies of the first n rows of a buffer [B, width].
func matrix(b compute.Buffer, n int) [][]float32 {
	shape := fail.Or(b.Shape())
	width := shape.Dimensions[1]
	return slices.Collect(slices.Chunk(slices.Clone(program.Read[float32](b, shape.Size()))[:n*width], width))
}
