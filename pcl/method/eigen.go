package method

import (
	"errors"

	"gonum.org/v1/gonum/mat"
)

// rankTol is the eigenvalue, relative to the largest, below which the rounding of a Gram matrix
// cannot be told from rank deficiency.
const rankTol = 1e-12

// spectral applies V·f(Λ)·Vᵀ to p, over the eigenvalues, in ascending order, of a symmetric matrix
// m = VΛVᵀ that are not 0 to rounding.
func spectral(m, p []float64, f func(values []float64) []float64) ([]float64, error) {
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(len(p), m), true) {
		return nil, errors.New("the eigenvalues of the Gram matrix did not converge")
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	values, first := e.Values(nil), 0
	for values[first] <= rankTol*values[len(p)-1] {
		first++
	}
	out := make([]float64, len(p))
	for n, factor := range f(values[first:]) {
		c := 0.0
		for i, x := range p {
			c += x * vectors.At(i, first+n)
		}
		for i := range out {
			out[i] += factor * c * vectors.At(i, first+n)
		}
	}
	return out, nil
}

// equalCosines returns C⁺1 for the cosine matrix c: the combination of unit gradients that has the
// same inner product, 1, with all of them, or the nearest to that where there is none.
func equalCosines(c []float64, k int) ([]float64, error) {
	return spectral(c, ones(k), func(values []float64) []float64 {
		out := make([]float64, len(values))
		for i, v := range values {
			out[i] = 1 / v
		}
		return out
	})
}
