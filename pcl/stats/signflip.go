package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// SignFlipResult is the outcome of a sign-flip test.
type SignFlipResult struct {
	Pairs int
	Zeros int     // pairs without a difference
	Mean  float64 // mean of a − b
	// P is the probability of a mean at least as far from 0, in either direction, if each difference had either sign
	// with probability ½: two-sided.
	P float64
	// Exact says that P counts all 2ⁿ ways to choose the signs, not a sample of them.
	Exact bool
}

// maxExact is the largest number of differences whose signs SignFlip goes through: two lists of 2²⁰ sums. For more of
// them it draws so many choices.
const (
	maxExact = 40
	draws    = 1_000_000
)

// SignFlip tests whether paired scores have the same mean, by Fisher's exact randomization test: under the hypothesis
// that the two methods are exchangeable within each pair, each difference could as well have had the other sign. All
// 2ⁿ choices are counted, for n up to 40 differences that are not 0. (The sums of each half's choices are sorted and
// then matched, which takes about 2ⁿᐟ² steps.) For more, it draws a million choices from a fixed seed, and so is not
// exact: P is then (1 + draws at least as far from 0)/(1 + draws). Sums that differ by no more than rounding count as equal. It refuses fewer pairs than
// [MinPairs] with a [TooFewError].
//
// Sources: R. A. Fisher, The Design of Experiments, 1935, §21; E. Edgington and P. Onghena, Randomization Tests, 2007.
func SignFlip(a, b []float64) (SignFlipResult, error) {
	r, d, least, err := prepareSignFlip(a, b)
	if err != nil {
		return SignFlipResult{}, err
	}
	if len(d) > maxExact {
		return signFlipSampled(a, b, draws, 1)
	}
	r.P, r.Exact = 1, true
	if least > 0 {
		r.P = min(1, math.Ldexp(2*float64(sumsFrom(d, least)), -len(d)))
	}
	return r, nil
}

// signFlipSampled is [SignFlip] with any number of pairs: it draws the signs, as often as asked, from the random
// numbers of a seed. P is (1 + draws at least as far from 0)/(1 + draws), which is never too small on average
// (B. Phipson and G. Smyth, Permutation P-values should never be zero, 2010).
func signFlipSampled(a, b []float64, draws int, from uint64) (SignFlipResult, error) {
	r, d, least, err := prepareSignFlip(a, b)
	if err != nil {
		return SignFlipResult{}, err
	}
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
	r.P = float64(far) / float64(draws+1)
	return r, nil
}

// randomSign is −1 or 1.
func randomSign(random *seed.Source) float64 {
	if random.Uint64()&1 == 0 {
		return -1
	}
	return 1
}

// prepareSignFlip returns the differences that are not 0, and the least sum that is as far from 0 as theirs.
func prepareSignFlip(a, b []float64) (r SignFlipResult, d []float64, least float64, err error) {
	d, same, err := differences(a, b)
	if err != nil {
		return r, nil, 0, err
	}
	r.Pairs = len(d)
	sum := floats.Sum(d)
	r.Mean = sum / float64(len(d))
	d = slices.DeleteFunc(d, func(x float64) bool { return x == 0 })
	r.Zeros = r.Pairs - len(d)
	return r, d, math.Abs(sum) - same, nil
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
