package method

import (
	"errors"
	"math"
)

// unsolved is the relative residual above which a small convex problem counts as not solved.
const unsolved = 1e-6

var errUnsolved = errors.New("the weights did not converge; check that the Gram matrix was accumulated in float64")

// crossing narrows [lo,hi], 0 < lo ≤ hi, to the two ends of one rounding error around the place
// where above turns from true to false. It bisects the exponents first, so that a range of many
// powers of ten costs little.
func crossing(lo, hi float64, above func(x float64) (bool, error)) (float64, float64, error) {
	for hi > lo*(1+4e-16) {
		mid := math.Sqrt(lo) * math.Sqrt(hi)
		if !(lo < mid && mid < hi) {
			break
		}
		is, err := above(mid)
		if err != nil {
			return 0, 0, err
		}
		if is {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo, hi, nil
}
