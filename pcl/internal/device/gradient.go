package device

import (
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Row is one row of a step: a batch, the loss that it is trained on, and the gradient of that loss,
// with what the host has read of it. The gradient must be freed.
type Row struct {
	Batch *Batch // nil for a row that was given
	Loss  rehearsal.Loss

	Flat   compute.Buffer    // the gradient [parameters]; nil until it is computed
	Halves [2]compute.Buffer // the gradients of the two halves of the batch, if they were asked for
	// loss, a scalar, and the statistics of the batch, if the model has any, are buffers or, of a
	// row that was given, values.
	loss, statistics any

	// The following are set when the gradient has been read.

	Value      float64   // the loss
	Private    float64   // the squared norm over the private parameters, if inner products were asked for
	Statistics []float32 // the statistics of the batch; valid until the row is freed
}

// Free releases the buffers, and leaves the row as it was before its gradient was computed.
func (r *Row) Free() {
	for _, x := range []any{r.Flat, r.loss, r.statistics} {
		if b, ok := x.(compute.Buffer); ok {
			program.Free(b)
		}
	}
	program.Free(r.Halves[:]...)
	*r = Row{Batch: r.Batch, Loss: r.Loss}
}

// differentiate computes the gradients of rows with one loss at θ, or at its [parts], and those of
// the two halves of each batch if asked for.
func (p *Set) differentiate(theta []compute.Buffer, halves bool, rows ...*Row) error {
	in, l := []any{theta}, rows[0].Loss
	for _, r := range rows {
		in = append(in, r.Batch.inputs(l))
	}
	gradient, err := p.gradient(l, len(theta) > 1, len(rows))
	if err != nil {
		return err
	}
	out, err := gradient.Call(in...)
	if err != nil {
		return err
	}
	each := len(out) / len(rows)
	for i, r := range rows {
		own := out[i*each:]
		if r.Flat, r.loss = own[0], own[1]; each > 2 {
			r.statistics = own[2]
		}
	}
	for _, r := range rows {
		if halves {
			if err := p.differentiateHalves(theta, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// differentiateHalves computes the gradients on the two halves of a batch. A single sample belongs
// to both.
func (p *Set) differentiateHalves(theta []compute.Buffer, r *Row) error {
	counts, n := r.Batch.Counts, r.Batch.N
	kept := slices.Clone(counts)
	defer copy(counts, kept)
	for h := range r.Halves {
		for i := range n {
			if counts[i] = 0; n == 1 || (i < (n+1)/2) == (h == 0) {
				counts[i] = 1
			}
		}
		half := Row{Batch: r.Batch, Loss: r.Loss}
		if err := p.differentiate(theta, false, &half); err != nil {
			return err
		}
		r.Halves[h], half.Flat = half.Flat, nil
		half.Free()
	}
	return nil
}

// Given returns a row of a loss and its gradient [parameters] that were computed on the host as if
// they were those of a batch. The batch's statistics are zeros, which must not be used.
func (p *Set) Given(loss float64, flat []float32) (Row, error) {
	onDevice, err := program.ToDevice(p.Backend, flat, len(flat))
	if err != nil {
		return Row{}, err
	}
	g := Row{Flat: onDevice, loss: []float32{float32(loss)}}
	if n := p.Model.Layout().StatsTotal; n > 0 {
		g.statistics = make([]float32, n)
	}
	return g, nil
}

// read brings the loss and the n statistics to the host.
func (g *Row) read(n int) error {
	loss, err := onTheHost(g.loss, 1)
	if err != nil {
		return err
	}
	g.Value = float64(loss[0])
	if n > 0 {
		if g.Statistics, err = onTheHost(g.statistics, n); err != nil {
			return err
		}
	}
	return nil
}

// onTheHost returns n values, or those of a buffer.
func onTheHost(x any, n int) ([]float32, error) {
	if values, ok := x.([]float32); ok {
		return values, nil
	}
	return program.Read[float32](x.(compute.Buffer), n)
}

// matrix returns copies of the first n rows of a buffer [B, width].
func matrix(b compute.Buffer, n int) ([][]float32, error) {
	shape, err := b.Shape()
	if err != nil {
		return nil, err
	}
	width := shape.Dimensions[1]
	read, err := program.Read[float32](b, shape.Size())
	if err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(slices.Clone(read)[:n*width], width)), nil
}
