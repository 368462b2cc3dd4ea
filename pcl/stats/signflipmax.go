package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// maxFlips is the largest number of situations whose signs SignFlipMax goes through.
const maxFlips = 20

// SignFlipMax tests whether any of several rivals is better than a method: a[r][i] and b[r][i] are
// the scores of rival r and of the method in situation i. A rival's statistic is the sum of its
// differences, divided by the root of the sum of their squares, so that rivals with large
// differences do not hide others; differences that are rounding are 0. The p-value is twice the
// share of the 2ⁿ choices of signs, one sign for all rivals of a situation, for which the largest
// statistic is at least the observed one. Since the largest counts, no correction for the number of
// rivals is needed, and rivals that are alike cost little (the single-step maxT of P. Westfall and
// S. Young, Resampling-Based Multiple Testing, 1993). For more than 20 situations it draws a
// million choices from a fixed seed.
func SignFlipMax(a, b [][]float64) float64 {
	if len(a) == 0 || len(a) != len(b) {
		panic(fmt.Sprintf("stats: there are scores of %d rivals, and of the method beside %d; want the same number, and "+
			"at least one", len(a), len(b)))
	}
	n := len(a[0])
	scaled := make([][]float64, len(a))
	for r := range a {
		if len(a[r]) != n {
			panic(fmt.Sprintf("stats: rival %d has %d situations, the first has %d", r, len(a[r]), n))
		}
		ahead, _ := differences(a[r], b[r])
		if norm := floats.Norm(ahead, 2); norm > 0 {
			floats.Scale(1/norm, ahead)
			scaled[r] = ahead
		}
	}
	signs := make([]float64, n)
	choose := func(choice int) {
		for i := range signs {
			signs[i] = float64(1 - 2*(choice>>i&1))
		}
	}
	choices, sampled := 1<<min(n, maxFlips), 0
	if n > maxFlips {
		choices, sampled = draws, 1
		random := seed.New(1, "sign flips")
		choose = func(int) {
			for i := range signs {
				signs[i] = randomSign(random)
			}
		}
	}
	least := largestSum(scaled, slices.Repeat([]float64{1}, n))
	least -= rounding * max(1, math.Abs(least)) // a sum of 0 is rounded, too: the parts of each rival have the length 1
	far := sampled
	for choice := range choices {
		if choose(choice); largestSum(scaled, signs) >= least {
			far++
		}
	}
	return min(1, 2*float64(far)/float64(choices+sampled))
}

// rounding is the difference, relative to the larger of 1 and the sum, up to which sums count as
// equal.
const rounding = 1e-12

// largestSum is the largest sum of a rival's differences with signs; 0 for a rival without any.
func largestSum(ahead [][]float64, signs []float64) float64 {
	largest := math.Inf(-1)
	for _, own := range ahead {
		sum := 0.0
		for i, x := range own {
			sum += signs[i] * x
		}
		largest = max(largest, sum)
	}
	return largest
}
