package analytic

import (
	"errors"
	"math"
)

var errSingular = errors.New("the sums are those of a singular matrix")

// cholesky replaces a symmetric matrix A by the upper triangle U with A = UᵀU. Each entry is
// changed by one row of U after the other, in their order, on whichever core.
func cholesky(a packed) error {
	const panel, columns = 64, 512
	for from := 0; from < a.n; from += panel {
		end := min(a.n, from+panel)
		if err := a.reduce(from, end); err != nil {
			return err
		}
		all := tiles(end, a.n, columns)
		each(len(all), func(k int) {
			t := all[k]
			for i := t.i0; i < t.i1; i++ {
				a.eliminate(i, from, end, max(i, t.j0), t.j1)
			}
		})
	}
	return nil
}

// reduce makes rows [from,end) of U.
func (a packed) reduce(from, end int) error {
	for i := from; i < end; i++ {
		a.eliminate(i, from, i, i, a.n)
		d := a.diagonal(i)
		if !(*d > 0) || math.IsInf(*d, 1) {
			return errSingular
		}
		blas.Dscal(a.n-i, 1/math.Sqrt(*d), a.row(i, i, a.n), 1)
	}
	return nil
}

// eliminate subtracts from entries [lo,hi) of row i what rows [from,end) of U contribute.
func (a packed) eliminate(i, from, end, lo, hi int) {
	to := a.row(i, lo, hi)
	for l := from; l < end; l++ {
		blas.Daxpy(len(to), -a.row(l, i, i+1)[0], a.row(l, lo, hi), 1, to, 1)
	}
}

// solve replaces the right-hand sides b, of which row i has entry i of each, by the solutions of
// UᵀUx = b.
func (a packed) solve(b [][]float64) {
	const together = 64
	width := len(b[0])
	each((width+together-1)/together, func(k int) {
		lo, hi := k*together, min(width, (k+1)*together)
		for i := range b {
			blas.Dscal(hi-lo, 1 / *a.diagonal(i), b[i][lo:hi], 1)
			for j, u := range a.row(i, i, a.n)[1:] {
				blas.Daxpy(hi-lo, -u, b[i][lo:hi], 1, b[i+1+j][lo:hi], 1)
			}
		}
		for i := len(b) - 1; i >= 0; i-- {
			for j, u := range a.row(i, i, a.n)[1:] {
				blas.Daxpy(hi-lo, -u, b[i+1+j][lo:hi], 1, b[i][lo:hi], 1)
			}
			blas.Dscal(hi-lo, 1 / *a.diagonal(i), b[i][lo:hi], 1)
		}
	})
}
