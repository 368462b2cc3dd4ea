// Package fp holds helpers for floating-point arithmetic that the methods and the solver share:
// exact scaling by powers of two over the whole range of float64, including subnormal numbers, and
// slices that are reused.
package fp

import "math"

// Smallest is the smallest positive number with the full precision of 53 binary digits. Smaller
// numbers have fewer.
const Smallest = 0x1p-1022

// PowerOfTwo returns the power of two p with p ≤ x < 2p, for x > 0.
func PowerOfTwo(x float64) float64 { return math.Ldexp(1, math.Ilogb(x)) }

// HalfExponent returns the e with 4^e ≤ x < 4^(e+1), for x > 0. If x is the square of a length, the
// length is between 2^e and 2^(e+1).
func HalfExponent(x float64) int { return math.Ilogb(x) >> 1 }

// Log returns the natural logarithm of x > 0. That of package math is wrong below Smallest on some
// processors, such as amd64, where log(1e-310) comes out as −709 and not as −714.
func Log(x float64) float64 {
	if x < Smallest {
		return math.Log(x*0x1p64) - 64*math.Ln2
	}
	return math.Log(x)
}

// Grow returns a slice of length n, which uses the memory of v if that is large enough. Its content
// is undefined.
func Grow[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n, 2*n)
	}
	return v[:n]
}
