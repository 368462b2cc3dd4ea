package method

import (
	"math"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

// cone finds the shortest d = Σ vᵢJᵢ with v ≥ u: the projection of the proposal g = Σ uᵢJᵢ onto the
// directions that hurt no stream, {d : Jd ≥ 0}. It is the EMGD dual with g as one more row, σ = 1
// on g and 0 on the streams (docs/method.md §2.7, one-hot σ), so the exact solver and its
// certificate can be used here too.
type cone struct {
	solver      emgd.Solver
	gram, sigma []float64
}

// project returns v for the k×k Gram matrix and a proposal u ≥ 0 that is not all 0.
func (c *cone) project(gram, u []float64) ([]float64, error) {
	k := len(u)
	gu := times(gram, u)
	v, length := make([]float64, k), 0.0
	copy(v, u)
	for i, x := range u {
		length += x * math.Sqrt(gram[i*k+i])
	}
	push, err := c.push(inner(u, gu), length, gu, gram)
	for i, x := range push {
		v[i] += x
	}
	return v, err
}

// push returns what is added to the weights of the rows with the given Gram matrix, for a proposal
// of a squared length and its products with the rows; nil if it is 0 up to rounding, relative to
// parts of the given length.
func (c *cone) push(square, length float64, products, gram []float64) ([]float64, error) {
	if square <= cancelled*cancelled*length*length {
		return nil, nil
	}
	k, n := len(products), len(products)+1
	c.gram, c.sigma = fp.Grow(c.gram, n*n), fp.Grow(c.sigma, n)
	clear(c.sigma)
	c.sigma[0], c.gram[0] = 1, square
	for i, x := range products {
		c.gram[i+1], c.gram[(i+1)*n] = x, x
		copy(c.gram[(i+1)*n+1:], gram[i*k:(i+1)*k])
	}
	bounded(c.gram, n)
	lambda, err := lambdas(&c.solver, c.gram, c.sigma)
	if err != nil {
		return nil, err
	}
	return lambda[1:], nil
}
