package device

import (
	"slices"

	"github.com/gomlx/compute"

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
func (g *Gradient) Along(d []float32) (float64, error) {
	flat, err := Host(g.Flat, len(d))
	if err != nil {
		return 0, err
	}
	return ddot(flat, d), nil
}

// Differentiate computes the gradients of a loss at θ, or at its parts ([Parts]), on batches, whose targets must have been set
// ([Batch.Aim]).
func Differentiate(s *graphs.Set, theta []compute.Buffer, loss rehearsal.Loss, batches ...*Batch) ([]Gradient, error) {
	p, err := s.Gradient(loss, len(theta) > 1, len(batches))
	if err != nil {
		return nil, err
	}
	all := slices.Clone(theta)
	for _, b := range batches {
		in, done, err := b.Inputs(s.Backend, graphs.Referenced(loss))
		if err != nil {
			return nil, err
		}
		defer done()
		all = append(all, in...)
	}
	out, err := p.Call(all...)
	if err != nil {
		return nil, err
	}
	gradients := make([]Gradient, len(batches))
	each := len(out) / len(batches)
	for i := range gradients {
		g, own := &gradients[i], out[i*each:]
		if g.Flat, g.loss = own[0], own[1]; each > 2 {
			g.statistics = own[2]
		}
	}
	return gradients, nil
}

// read brings the loss and the n statistics to the host.
func (g *Gradient) read(n int) error {
	value, err := Host(g.loss, 1)
	if err != nil {
		return err
	}
	g.Value = float64(value[0])
	if n > 0 {
		g.Statistics, err = Host(g.statistics, n)
	}
	return err
}

// Host returns the n entries of a buffer of float32. If the device shares memory with the host, the result is
// that memory, otherwise a copy.
func Host(b compute.Buffer, n int) ([]float32, error) {
	if b.Backend().HasSharedBuffers() {
		flat, err := b.Data()
		if err != nil {
			return nil, err
		}
		return flat.([]float32), nil
	}
	out := make([]float32, n)
	return out, b.ToFlatData(out)
}

// Matrix returns copies of the first n rows of a buffer [B, width].
func Matrix(b compute.Buffer, n int) ([][]float32, error) {
	shape, err := b.Shape()
	if err != nil {
		return nil, err
	}
	flat := make([]float32, shape.Size())
	if err := program.ToHost(flat, b); err != nil {
		return nil, err
	}
	width := shape.Dimensions[1]
	return slices.Collect(slices.Chunk(flat[:n*width], width)), nil
}
