package stats

import "math"

// minPairs is the least number of pairs with which the exact tests can show anything. Of n pairs
// that all differ in one direction, both give p = 2·2⁻ⁿ, the smallest there is; for five that is
// 0.0625, for three 0.25, so that with fewer than six nothing could be significant at the level of
// 5 %.
const minPairs = 6

// MinPairs returns the least number of pairs, from six on, with which the smaller p-values of
// several tests can reach a level, 0 < alpha < 1, after [Holm]'s correction: the least n with tests
// · 2·2⁻ⁿ ≤ alpha. For other levels the number means nothing.
func MinPairs(alpha float64, tests int) int {
	n := minPairs
	for float64(max(tests, 1))*math.Ldexp(2, -n) > max(alpha, 0) {
		n++
	}
	return n
}
