package analytic

import (
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/gonum"
)

// blas adds multiples of vectors. Each entry of such a sum is computed by itself, so that its bits
// depend neither on the length of the vectors nor on where they are divided.
var blas gonum.Implementation

// each calls f with 0 to n-1, on all cores. Calls must not change the same memory.
func each(n int, f func(k int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers < 2 {
		for k := range n {
			f(k)
		}
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
				f(k)
			}
		})
	}
	wait.Wait()
}

// tile is a part of the upper half of a square matrix: the entries of rows [i0,i1) and columns
// [j0,j1) with i ≤ j.
type tile struct{ i0, i1, j0, j1 int }

// tiles divides the upper half of rows and columns [from,n) into parts of which each fits the
// caches.
func tiles(from, n, columns int) (all []tile) {
	const rows = 64
	for j := from; j < n; j += columns {
		end := min(n, j+columns)
		for i := from; i < end; i += rows {
			all = append(all, tile{i, min(end, i+rows), j, end})
		}
	}
	return all
}

// A packed matrix is the upper half of a symmetric or triangular matrix of n rows, row after row.
type packed struct {
	n int
	v []float64
}

func newPacked(n int) packed { return packed{n, make([]float64, n*(n+1)/2)} }

// row returns entries [lo,hi) of row i, where i ≤ lo.
func (p packed) row(i, lo, hi int) []float64 {
	at := i*p.n - i*(i-1)/2 - i // where column 0 would be
	return p.v[at+lo : at+hi]
}

func (p packed) diagonal(i int) *float64 { return &p.row(i, i, i+1)[0] }

// trace adds the diagonal up, from the first row on.
func (p packed) trace() (sum float64) {
	for i := range p.n {
		sum += *p.diagonal(i)
	}
	return sum
}
