package stats

import (
	"cmp"
	"math"
	"slices"
)

// wilcoxon tests whether paired scores differ, by the signed-rank test. The differences are ranked
// by their size, equal ones sharing the mean of their ranks. Zeros are ranked with the others and
// then count half for each side, as Demšar (2006) advises (who leaves one zero out where their
// number is odd; this does not). The p-value is the same as with Pratt's (1959) rule, which drops
// the zeros after the ranking. It is exact, with ties and zeros too: it comes from the distribution
// of the positive ones' sum over all 2ⁿ signs of the ranks at hand, computed by adding one rank
// after another, in about n³ steps. The result is the probability of sums at least as far apart if
// each difference had either sign with probability ½: two-sided and exact. Fewer pairs than
// minPairs can show nothing.
//
// Sources: F. Wilcoxon, Individual comparisons by ranking methods (1945); J. Demšar, Statistical
// Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006, §3.1.3.
func wilcoxon(a, b []float64) (p float64) {
	d, same := differences(a, b)
	twice := twiceRanks(d, same)
	var ranks []int
	plus, total := 0, 0 // of differences that are not 0, doubled
	for i, x := range d {
		if x == 0 {
			continue
		}
		ranks, total = append(ranks, twice[i]), total+twice[i]
		if x > 0 {
			plus += twice[i]
		}
	}
	return asFarApart(ranks, total, plus)
}

// twiceRanks ranks numbers by their size, from 1, and doubles the ranks, so that shared ones are
// whole numbers. Sizes are equal where they differ by no more than same from the next.
func twiceRanks(d []float64, same float64) []int {
	order := make([]int, len(d))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(d[i]), math.Abs(d[j])) })
	twice := make([]int, len(d))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && math.Abs(d[order[to]])-math.Abs(d[order[to-1]]) <= same {
			to++
		}
		for _, i := range order[from:to] {
			twice[i] = from + to + 1 // (from+1) + to, the first rank and the last
		}
		from = to
	}
	return twice
}

// asFarApart is the probability that the sum of a random half of the ranks is as far from half of
// their total.
func asFarApart(ranks []int, total, sum int) float64 {
	probability := make([]float64, total+1)
	probability[0] = 1
	reached := 0
	for _, rank := range ranks {
		for s := reached; s >= 0; s-- {
			p := probability[s] / 2
			probability[s] = p
			probability[s+rank] += p
		}
		reached += rank
	}
	far := 0.0
	for s, p := range probability {
		if abs(2*s-total) >= abs(2*sum-total) {
			far += p
		}
	}
	return min(1, far)
}

func abs(x int) int { return max(x, -x) }
