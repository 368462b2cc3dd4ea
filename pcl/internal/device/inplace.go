package device

import (
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
)

// readInPlace computes inner products on the host, with sums in float64, from gradients in memory that the
// device shares with it. The products of one row are computed while the device works on the next gradient, so
// that only those of the last row take extra time.
type readInPlace struct {
	set   *graphs.Set
	k     int
	asked graphs.Products
	rows  []blas32.Vector
	m     []float64
	busy  sync.WaitGroup
	err   error
}

func (h *readInPlace) Warm(int, graphs.Products) error { return nil }

func (h *readInPlace) Begin(k int, asked graphs.Products) {
	h.k, h.asked, h.err, h.rows, h.m = k, asked, nil, h.rows[:0], make([]float64, k*k)
}

func (h *readInPlace) Add(r *Gradient) {
	if h.err == nil {
		h.err = r.read(h.set.Model.Layout().StatsTotal)
	}
	if h.err != nil || h.asked == graphs.None {
		return
	}
	g, err := Host(r.Flat, h.set.Total())
	if err != nil {
		h.err = err
		return
	}
	if n := h.set.Total() - h.set.Shared; n > 0 {
		own := blas32.Vector{N: n, Inc: 1, Data: g[h.set.Shared:]}
		r.Private = blas32.DDot(own, own)
	}
	h.rows = append(h.rows, blas32.Vector{N: h.set.Shared, Inc: 1, Data: g[:h.set.Shared]})
	i := len(h.rows) - 1
	rows := h.rows[:i+1]
	if h.asked == graphs.Norms {
		h.busy.Go(func() { h.products(rows, i, i+1) })
		return
	}
	if len(rows) == h.k && i > 1 { // no gradient is computed beside the last row, so two goroutines share it
		half := (i + 1) / 2
		h.busy.Go(func() { h.products(rows, 0, half) })
		h.products(rows, half, i+1)
		return
	}
	h.busy.Go(func() { h.products(rows, 0, i+1) })
}

// products computes the entries from…to−1 of the last row of M, and their mirror images.
func (h *readInPlace) products(rows []blas32.Vector, from, to int) {
	i := len(rows) - 1
	for j := from; j < to; j++ {
		v := blas32.DDot(rows[i], rows[j])
		h.m[i*h.k+j], h.m[j*h.k+i] = v, v
	}
}

func (h *readInPlace) Wait() { h.busy.Wait() }

func (h *readInPlace) Finish() ([]float64, error) {
	h.Wait()
	return h.m, h.err
}
