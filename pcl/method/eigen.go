package method

import (
	"errors"

	"gonum.org/v1/gonum/mat"
)

// rankTol is the eigenvalue, relative to the largest, below which the rounding of a Gram matrix cannot be
// told from rank deficiency.
const rankTol = 1e-12

// eigen returns the eigenvalues (ascending) and eigenvectors (columns) of a symmetric k×k matrix
// whose rank is at least 1, and the index of the first eigenvalue that is not 0 to rounding.
func eigen(m []float64, k int) (values []float64, vectors *mat.Dense, first int, err error) {
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(k, m), true) {
		return nil, nil, 0, errors.New("the eigenvalues of the Gram matrix did not converge")
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	values = e.Values(nil)
	for values[first] <= rankTol*values[k-1] {
		first++
	}
	return values, vectors, first, nil
}

// spectral applies V·f(Λ)·Vᵀ to p, over the eigenvalues that are not 0.
func spectral(m, p []float64, f func(values []float64) []float64) ([]float64, error) {
	k := len(p)
	values, vectors, first, err := eigen(m, k)
	if err != nil {
		return nil, err
	}
	out := make([]float64, k)
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
	ones := make([]float64, k)
	fill(ones, 1)
	return spectral(c, ones, func(values []float64) []float64 {
		out := make([]float64, len(values))
		for i, v := range values {
			out[i] = 1 / v
		}
		return out
	})
}
