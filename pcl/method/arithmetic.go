package method

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// This file has the arithmetic on short vectors that rules share.

func fill(w []float64, v float64) {
	for i := range w {
		w[i] = v
	}
}

// ones are k times 1, and even are the weights of a mean.
func ones(k int) []float64 { return slices.Repeat([]float64{1}, k) }
func even(k int) []float64 { return slices.Repeat([]float64{1 / float64(k)}, k) }

func sumOf(v []float64) (sum float64) {
	for _, x := range v {
		sum += x
	}
	return sum
}

// toSum scales positive weights to a given sum.
func toSum(w []float64, sum float64) { floats.Scale(sum/sumOf(w), w) }

func softmax(z []float64) {
	top := slices.Max(z)
	for i, x := range z {
		z[i] = math.Exp(x - top)
	}
	toSum(z, 1)
}

func inner(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

// times is m·v for a square matrix m, row-major.
func times(m, v []float64) []float64 {
	k, out := len(v), make([]float64, len(v))
	for i := range out {
		out[i] = inner(m[i*k:(i+1)*k], v)
	}
	return out
}
