package pcl

import (
	"sync"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/parallelcl/parallelcl/pcl/method"
)

// inner says which inner products of the rows' gradients are read: those of M = JJᵀ over the shared
// parameters.
type inner int

const (
	nothing inner = iota
	norms         // M's diagonal, by which rows that are not finite are told
	gram          // all of M
)

// products is what a step of a method reads.
func products(m method.Method) inner {
	if m.Info().NeedsGram {
		return gram
	}
	return norms
}

// readout brings to the host what a step decides on: the losses of its rows, the statistics of their
// batches and, where asked for, inner products of their gradients, in float64, and the squared norms of
// their private parts.
type readout interface {
	warm(k int, asked inner) error
	begin(k int, asked inner)
	// add takes the next row, right after its gradient was computed.
	add(r *row)
	// finish gives the rows their values and statistics and returns M, row-major K×K, in which 0 stands
	// where nothing was asked for.
	finish() ([]float64, error)
	// wait returns when no gradient is being read any more.
	wait()
}

// newReadout reads device memory in place where the backend shares it with the host, and else once for
// each step.
func newReadout(backend compute.Backend, p *programs) readout {
	if backend.HasSharedBuffers() {
		return &readInPlace{programs: p}
	}
	return &readOnce{programs: p}
}

// readInPlace takes inner products in place, with float64 sums. Row k is computed while the device
// works on gradient k+1, so that only the last row costs time.
type readInPlace struct {
	programs *programs
	k        int
	asked    inner
	rows     []blas32.Vector
	m        []float64
	busy     sync.WaitGroup
	err      error
}

func (h *readInPlace) warm(int, inner) error { return nil }

func (h *readInPlace) begin(k int, asked inner) {
	h.k, h.asked, h.err, h.rows, h.m = k, asked, nil, h.rows[:0], make([]float64, k*k)
}

func (h *readInPlace) add(r *row) {
	if h.err == nil {
		h.err = r.read(h.programs.model.Layout().StatsTotal)
	}
	if h.err != nil || h.asked == nothing {
		return
	}
	g, err := host(r.gradient, h.programs.total())
	if err != nil {
		h.err = err
		return
	}
	if n := h.programs.total() - h.programs.shared; n > 0 {
		own := blas32.Vector{N: n, Inc: 1, Data: g[h.programs.shared:]}
		r.private = blas32.DDot(own, own)
	}
	h.rows = append(h.rows, blas32.Vector{N: h.programs.shared, Inc: 1, Data: g[:h.programs.shared]})
	i := len(h.rows) - 1
	rows := h.rows[:i+1]
	if h.asked == norms {
		h.busy.Go(func() { h.products(rows, i, i+1) })
		return
	}
	if len(rows) == h.k && i > 1 { // the last: nothing runs beside it, so two share it
		half := (i + 1) / 2
		h.busy.Go(func() { h.products(rows, 0, half) })
		h.products(rows, half, i+1)
		return
	}
	h.busy.Go(func() { h.products(rows, 0, i+1) })
}

// products fills entries from…to−1 of the last row.
func (h *readInPlace) products(rows []blas32.Vector, from, to int) {
	i := len(rows) - 1
	for j := from; j < to; j++ {
		v := blas32.DDot(rows[i], rows[j])
		h.m[i*h.k+j], h.m[j*h.k+i] = v, v
	}
}

func (h *readInPlace) wait() { h.busy.Wait() }

func (h *readInPlace) finish() ([]float64, error) {
	h.wait()
	return h.m, h.err
}
