package device

import (
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// readInPlace computes inner products on the host, with sums in float64, from gradients in memory
// that the device shares with it. A row's products with all rows before are computed while the
// device works on the next gradient, so that only those of the last row take extra time.
type readInPlace struct {
	set   *Set
	k     int
	asked Products
	rows  [][]float32 // the shared parameters' part of the gradients
	m     []float64
	busy  sync.WaitGroup
}

func (h *readInPlace) begin(k int, asked Products) {
	h.k, h.asked, h.rows, h.m = k, asked, h.rows[:0], make([]float64, k*k)
}

func (h *readInPlace) add(r *Row) error {
	if err := r.read(h.set.Model.Layout().StatsTotal); err != nil {
		return err
	}
	if h.asked.none() {
		return nil
	}
	g, err := program.Read[float32](r.Flat, h.set.total())
	if err != nil {
		return err
	}
	shared, own := g[:h.set.Shared], g[h.set.Shared:h.set.total()]
	if len(own) > 0 {
		r.Private = ddot(own, own)
	}
	h.rows = append(h.rows, shared)
	last := len(h.rows) - 1
	if !h.asked.Gram {
		h.busy.Go(func() { h.m[last*h.k+last] = ddot(shared, shared) })
		return nil
	}
	h.products(last)
	return nil
}

// products computes the entries of M of the last row with all rows up to it: while the next
// gradient is computed, or on all cores if there is none.
func (h *readInPlace) products(last int) {
	rows := h.rows // which add appends to meanwhile
	product := func(j int) {
		v := ddot(rows[last], rows[j])
		h.m[last*h.k+j], h.m[j*h.k+last] = v, v
	}
	if last == h.k-1 {
		share(last+1, product)
		return
	}
	h.busy.Go(func() {
		for j := range last + 1 {
			product(j)
		}
	})
}

// ddot is the inner product of two rows, in float64.
func ddot(x, y []float32) float64 {
	return blas32.DDot(blas32.Vector{N: len(x), Inc: 1, Data: x}, blas32.Vector{N: len(y), Inc: 1, Data: y})
}

func (h *readInPlace) wait() { h.busy.Wait() }

func (h *readInPlace) finish() ([]float64, error) {
	h.wait()
	return h.m, nil
}
