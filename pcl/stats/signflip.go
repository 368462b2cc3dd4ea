package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// sameWithin is the relative size of rounding: differences that are closer to each other, or to 0,
// than this share of the largest score are equal. Otherwise 0.768 − 0.763 and 0.936 − 0.931 would
// not be.
const sameWithin = 1e-10

// differences returns a − b, with exact zeros where scores are equal, and the distance within which
// two sums of differences are equal.
func differences(a, b []float64) (d []float64, same float64) {
	if len(a) != len(b) {
		panic(fmt.Sprintf("stats: %d and %d scores are not pairs", len(a), len(b)))
	}
	for i := range a {
		d = append(d, a[i]-b[i])
		same = max(same, sameWithin*math.Abs(a[i]), sameWithin*math.Abs(b[i]))
	}
	for i, x := range d {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			panic(fmt.Sprintf("stats: pair %d is %v and %v; want finite scores", i, a[i], b[i]))
		}
		if math.Abs(x) <= same {
			d[i] = 0
		}
	}
	return d, same
}

// maxExact is the largest number of differences whose signs signFlip goes through: two lists of 2²⁰
// sums. For more of them it draws so many choices.
const (
	maxExact = 40
	draws    = 1_000_000
)

// signFlip tests whether paired scores have the same mean, by Fisher's exact randomization test:
// under the hypothesis that the two methods are exchangeable within each pair, each difference
// could as well have had the other sign. The result is the probability of a mean at least as far
// from 0, in either direction: two-sided. All 2ⁿ choices are counted, for n up to 40 differences
// that are not 0. (The sums of each half's choices are sorted and then matched, which takes about
// 2ⁿᐟ² steps.) For more, it draws a million choices from a fixed seed, and so is not exact: p is
// then (1 + draws at least as far from 0)/(1 + draws). Sums that differ by no more than rounding
// count as equal. Fewer pairs than minPairs can show nothing.
//
// Sources: R. A. Fisher, The Design of Experiments, 1935, §21; E. Edgington and P. Onghena,
// Randomization Tests, 2007.
func signFlip(a, b []float64) (p float64) {
	d, same := differences(a, b)
	least := math.Abs(floats.Sum(d)) - same // as far from 0 as theirs
	d = slices.DeleteFunc(d, func(x float64) bool { return x == 0 })
	switch {
	case len(d) > maxExact:
		return signFlipSampled(d, least, draws, 1)
	case least <= 0:
		return 1
	}
	return min(1, math.Ldexp(2*float64(sumsFrom(d, least)), -len(d)))
}

// signFlipSampled is signFlip of any number of differences: it draws the signs, as often as asked,
// from the random numbers of a seed. The result is never too small on average (B. Phipson and G.
// Smyth, Permutation P-values should never be zero, 2010).
func signFlipSampled(d []float64, least float64, draws int, from uint64) float64 {
	random := seed.New(from, "sign flips")
	far := 1
	for range draws {
		sum := 0.0
		for _, x := range d {
			sum += randomSign(random) * x
		}
		if math.Abs(sum) >= least {
			far++
		}
	}
	return float64(far) / float64(draws+1)
}

// randomSign is −1 or 1.
func randomSign(random *seed.Source) float64 {
	if random.Uint64()&1 == 0 {
		return -1
	}
	return 1
}

// sumsFrom counts the choices of signs whose sum is at least a number.
func sumsFrom(d []float64, least float64) (count uint64) {
	low, high := signedSums(d[:len(d)/2]), signedSums(d[len(d)/2:])
	j := len(high)
	for _, x := range low { // as x grows, ever more of the other half's sums suffice
		for j > 0 && x+high[j-1] >= least {
			j--
		}
		count += uint64(len(high) - j)
	}
	return count
}

// signedSums returns the sums of all choices of signs, sorted.
func signedSums(d []float64) []float64 {
	sums := []float64{0}
	for _, x := range d {
		n := len(sums)
		sums = append(sums, sums...)
		for i := range n {
			sums[i] += x
			sums[n+i] -= x
		}
	}
	slices.Sort(sums)
	return sums
}
