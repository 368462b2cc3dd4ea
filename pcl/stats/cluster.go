package stats

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// IntraclassCorrelation says how alike the numbers of a group are: 1 if they are equal and the groups differ, 0 if groups do
// not matter, and below 0 if the members of a group differ more than those of different groups. Each sample has at least two
// groups, all of the same number of members, at least two. Several samples are pooled: their sums of squares are added up. It
// is NaN if nothing varies.
//
// It is the ratio of one-way analysis of variance, ICC(1,1) of P. Shrout and J. Fleiss, Intraclass Correlations, 1979. For the
// differences of two methods with label sets as groups and timelines as members it tells how far [SignFlip] over situations is
// from its level (docs/protocol.md §3.5).
func IntraclassCorrelation(samples ...[][]float64) float64 {
	var between, total float64
	for _, groups := range samples {
		n, k := float64(len(groups)), float64(len(groups[0]))
		var mean, across, within float64
		for _, g := range groups {
			mean += floats.Sum(g) / (n * k)
		}
		for _, g := range groups {
			own := floats.Sum(g) / k
			across += k * (own - mean) * (own - mean) / (n - 1)
			for _, x := range g {
				within += (x - own) * (x - own) / (n * (k - 1))
			}
		}
		between += across - within
		total += across + (k-1)*within
	}
	if total == 0 {
		return math.NaN()
	}
	return between / total
}
