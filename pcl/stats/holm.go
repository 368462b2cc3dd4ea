package stats

import (
	"cmp"
	"fmt"
	"slices"
)

// Holm adjusts the p-values of several tests for their number. The probability that any true
// hypothesis gets an adjusted p-value of at most α is at most α, however the tests depend on each
// other. The i-th smallest of m becomes max_{j ≤ i} min(1, (m − j + 1) p_j). The result is in the
// order of the input.
//
// Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
// Statistics 6 (1979).
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			panic(fmt.Sprintf("stats: p-value %d is %v; want 0 to 1", i, v))
		}
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	adjusted := make([]float64, len(p))
	largest := 0.0
	for place, i := range order {
		largest = max(largest, min(1, float64(len(p)-place)*p[i]))
		adjusted[i] = largest
	}
	return adjusted
}
