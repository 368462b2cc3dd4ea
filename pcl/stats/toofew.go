package stats

import (
	"fmt"
	"math"
)

// MinPairs is the least number of pairs with which [SignFlip] and [Wilcoxon] can show anything. Of n pairs that all differ in one
// direction, both give p = 2·2⁻ⁿ, the smallest there is; for five that is 0.0625, for three 0.25, so that with fewer
// than six nothing could be significant at the level of 5 %.
const MinPairs = 6

// TooFewError refuses a test that could not have shown a difference whatever the values.
type TooFewError struct {
	Pairs  int
	Needed int
	Alpha  float64 // the level
	Tests  int     // how many tests share the level by [Holm]'s correction
}

func (e *TooFewError) Error() string {
	among := ""
	if e.Tests > 1 {
		among = fmt.Sprintf(", and Holm's correction for %d tests multiplies that by %d", e.Tests, e.Tests)
	}
	return fmt.Sprintf("stats: no test of %d pairs can be significant at the level %v: even if all differ in one direction, p is %.2g%s; it takes %d pairs",
		e.Pairs, e.Alpha, smallest(e.Pairs), among, e.Needed)
}

// Needed returns the least number of pairs with which the smaller p-values of several tests can reach a level, 0 < alpha
// < 1, after [Holm]'s correction: the least n with tests · 2·2⁻ⁿ ≤ alpha. For other levels the number means nothing.
func Needed(alpha float64, tests int) int {
	n := 1
	for float64(max(tests, 1))*smallest(n) > max(alpha, 0) {
		n++
	}
	return n
}

// smallest is the smallest p-value that n pairs can have.
func smallest(n int) float64 { return min(1, math.Ldexp(2, -n)) }
