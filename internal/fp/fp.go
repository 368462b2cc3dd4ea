// Package fp has what the rules and the solver share of floating-point arithmetic: exact scaling by
// powers of two over the whole range of float64, subnormal numbers included, and buffers that are used
// again.
package fp

import "math"

// Smallest is the smallest number with all 53 digits; below it digits are lost one by one.
const Smallest = 0x1p-1022

// PowerOfTwo is the p with p ≤ x < 2p, for x > 0.
func PowerOfTwo(x float64) float64 { return math.Ldexp(1, math.Ilogb(x)) }

// HalfExponent is the e with 4^e ≤ x < 4^(e+1), for x > 0: 2^e is next to the length whose square is x.
func HalfExponent(x float64) int { return math.Ilogb(x) >> 1 }

// Grow returns a slice of length n in the memory of v where that suffices. What it holds is undefined.
func Grow[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n, 2*n)
	}
	return v[:n]
}
