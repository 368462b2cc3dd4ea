package device

import (
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Row is one row of a step: a batch, the loss that it is trained on, and the gradient of that loss, with what the host has read of
// it. The gradient must be freed.
type Row struct {
	Batch *Batch // nil for a row that was given
	Loss  rehearsal.Loss

	Flat   compute.Buffer    // the gradient [parameters]; nil until it is computed
	Halves [2]compute.Buffer // the gradients of the two halves of the batch, if they were asked for
	// loss, a scalar, and the statistics of the batch, if the model has any, are buffers or, of a row that was given, values.
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

// differentiate computes the gradients of rows with one loss at θ, or at its [parts], and those of the two halves of each batch if
// asked for.
func (p *Set) differentiate(theta []compute.Buffer, halves bool, rows ...*Row) {
	in, l := []any{theta}, rows[0].Loss
	for _, r := range rows {
		in = append(in, r.Batch.inputs(l))
	}
	out := p.gradient(l, len(theta) > 1, len(rows)).Call(in...)
	each := len(out) / len(rows)
	for i, r := range rows {
		own := out[i*each:]
		if r.Flat, r.loss = own[0], own[1]; each > 2 {
			r.statistics = own[2]
		}
	}
	for _, r := range rows {
		if halves {
			p.differentiateHalves(theta, r)
		}
	}
}

// differentiateHalves computes the gradients on the two halves of a batch. A single sample belongs to both.
func (p *Set) differentiateHalves(theta []compute.Buffer, r *Row) {
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
		p.differentiate(theta, false, &half)
		r.Halves[h], half.Flat = half.Flat, nil
		half.Free()
	}
}

// Given returns a row of a loss and its gradient [parameters] that were computed on the host as if they were those of a batch.
// The batch's statistics are zeros, which must not be used.
func (p *Set) Given(loss float64, flat []float32) Row {
	g := Row{Flat: program.ToDevice(p.Backend, flat, len(flat)), loss: []float32{float32(loss)}}
	if n := p.Model.Layout().StatsTotal; n > 0 {
		g.statistics = make([]float32, n)
	}
	return g
}

// read brings the loss and the n statistics to the host.
func (g *Row) read(n int) {
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
