package device

import (
	"sync"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// readInPlace computes inner products on the host, with sums in float64, from gradients in memory that the
// device shares with it. Those of two rows with all before are computed while the device works on the next gradients, so
// that only those of the last rows take extra time.
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
	i := len(h.rows) - 1
	switch {
	case !h.asked.Gram:
		h.busy.Go(func() { h.m[i*h.k+i] = ddot(shared, shared) })
	case i%2 == 1 || i == h.k-1:
		h.products(i&^1, i)
	}
	return nil
}

// products computes the entries of M of the last row, or the last two rows, with all rows up to them: while the next gradient is
// computed, or on all cores if there is none.
func (h *readInPlace) products(first, last int) {
	at := func(i int) int { return min(i, last) }
	rows := h.rows // which add appends to meanwhile
	x := [2][]float32{rows[first], rows[last]}
	block := func(i int) {
		j := 2 * i
		dots(x, [2][]float32{rows[j], rows[at(j+1)]}, func(a, b int, v float64) {
			a, b = at(first+a), at(j+b)
			h.m[a*h.k+b], h.m[b*h.k+a] = v, v
		})
	}
	blocks := first/2 + 1
	if last == h.k-1 {
		share(blocks, block)
		return
	}
	h.busy.Go(func() {
		for i := range blocks {
			block(i)
		}
	})
}

func (h *readInPlace) wait() { h.busy.Wait() }

func (h *readInPlace) finish() ([]float64, error) {
	h.wait()
	return h.m, nil
}
