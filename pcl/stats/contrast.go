package stats

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// Level is the level of the tests of [Contrasts]; their intervals have 1 − Level.
const Level = 0.05

// Contrast is what situations show about the difference of a method from a reference.
type Contrast struct {
	Pairs      int     // situations
	Difference float64 // mean of method − reference
	Std        float64 // sample standard deviation of the differences; NaN for one pair
	Low, High  float64 // the 95 % interval of the difference alone; NaN if there are too few pairs for one
	// P is the two-sided p-value of Fisher's exact randomization test, and Adjusted the same after
	// [Holm]'s correction for all contrasts that have one; both are NaN for fewer than six pairs.
	P, Adjusted float64
	// Grouped says that some label set has several timelines. Situations are then not independent,
	// and the interval is that of a bootstrap that draws whole label sets, without one if there is
	// only one of them.
	Grouped bool
	Needed  int // the least number of pairs with which as many contrasts could differ
	// Differs is the verdict: Adjusted is at most [Level], and the difference is [Contrast.Clear].
	Differs bool
}

// Clear says whether the interval, too, shows a difference: if situations are not independent
// (Grouped), it must not contain 0.
func (c *Contrast) Clear() bool { return !c.Grouped || c.Low > 0 || c.High < 0 }

// Contrasts compares methods with references, each in situations of its own: the first mean is the
// method's, the second the reference's. All contrasts are shown together, and their p-values
// corrected for that. The interval of independent situations comes from inverting the test: it
// contains the differences that the test at [Level] does not reject, so that it excludes 0 exactly
// if P is at most Level. More than 20 pairs have Student's interval.
//
// Source of the interval: J. Hartigan, Using subsample values as typical values, JASA 64 (1969).
func Contrasts(all ...[]Shared) []Contrast {
	out, p, tested := make([]Contrast, len(all)), []float64{}, []*Contrast{}
	for i, pairs := range all {
		out[i] = contrast(pairs)
		out[i].Needed = MinPairs(Level, len(all))
		if c := &out[i]; !math.IsNaN(c.P) {
			p, tested = append(p, c.P), append(tested, c)
		}
	}
	for i, adjusted := range Holm(p) {
		c := tested[i]
		c.Adjusted, c.Differs = adjusted, adjusted <= Level && c.Clear()
	}
	return out
}

func contrast(pairs []Shared) Contrast {
	nan := math.NaN()
	c := Contrast{Pairs: len(pairs), Low: nan, High: nan, P: nan, Adjusted: nan}
	var method, reference, d []float64
	even := len(pairs) > 0 && len(pairs[0].seeds) > 0 && !slices.ContainsFunc(pairs, func(s Shared) bool {
		return !slices.Equal(s.seeds, pairs[0].seeds)
	})
	labelSets := map[uint64][][]float64{}
	for _, s := range pairs {
		a, b := s.Means[0], s.Means[1]
		method, reference, d = append(method, a), append(reference, b), append(d, a-b)
		own := []float64{a - b}
		if even {
			own = floats.SubTo(make([]float64, len(s.seeds)), s.runs[0], s.runs[1])
		}
		labelSets[s.LabelSet] = append(labelSets[s.LabelSet], own)
	}
	c.Difference, c.Std = stat.MeanStdDev(d, nil)
	c.Grouped = len(labelSets) < c.Pairs
	if c.Pairs >= minPairs {
		c.P = signFlip(method, reference)
	}
	switch {
	case c.Grouped && len(labelSets) > 1:
		var groups [][][]float64
		for _, l := range slices.Sorted(maps.Keys(labelSets)) {
			groups = append(groups, labelSets[l])
		}
		c.Low, c.High = resampled(groups)
	case !c.Grouped && c.Pairs >= minPairs:
		c.Low, c.High = inverted(d)
	}
	return c
}

// inverted returns the interval of the mean of differences from inverting the sign-flip test: if k
// choices of signs of 2ⁿ may be as far from 0 on one side, it reaches from the k-th smallest to the
// k-th largest mean of a subset of the differences. For a shift x, flipping the signs of a subset
// leaves the sum as large exactly if the mean of the subset is at most x.
func inverted(d []float64) (low, high float64) {
	if len(d) > maxFlips {
		mean, std := stat.MeanStdDev(d, nil)
		half := student(len(d), Level/2) * std / math.Sqrt(float64(len(d)))
		return mean - half, mean + half
	}
	means := make([]float64, 0, 1<<len(d)-1)
	sums := make([]float64, 1<<len(d))
	for set := 1; set < len(sums); set++ {
		first, size := 0, 0
		for i := range d {
			if set>>i&1 == 1 {
				first, size = i, size+1
			}
		}
		sums[set] = sums[set&^(1<<first)] + d[first]
		means = append(means, sums[set]/float64(size))
	}
	slices.Sort(means)
	k := int(Level * math.Ldexp(1, len(d)-1)) // the empty subset is one of the choices
	return means[k-1], means[len(means)-k]
}

// resampled returns a bootstrap interval of the mean of differences. Each replicate draws label
// sets, then timelines of each label set. The seeds are drawn once for all of them, since a seed
// has an effect that all situations share, such as that of the initial network. Of n things it
// draws n − 1: drawing n would make the variance of a mean too small by the factor (n − 1)/n, with
// three label sets by a third.
//
// Sources: B. Efron, Better bootstrap confidence intervals (1987); A. Owen, The pigeonhole
// bootstrap (2007); J. Rao and C. Wu, Resampling inference with complex survey data (1988), for n −
// 1.
func resampled(labelSets [][][]float64) (low, high float64) {
	random := seed.New(0, "bootstrap")
	places := func(n int) []int {
		out := make([]int, max(1, n-1))
		for i := range out {
			out[i] = random.IntN(n)
		}
		return out
	}
	replicates, several := make([]float64, 2000), len(labelSets[0][0])
	for i := range replicates {
		sum, n := 0.0, 0
		seeds := []int{0}
		if several > 1 {
			seeds = places(several)
		}
		for _, l := range places(len(labelSets)) {
			for _, t := range places(len(labelSets[l])) {
				if several == 1 {
					random.Uint64() // as if the only seed were drawn: published intervals are of these numbers
				}
				for _, s := range seeds {
					sum, n = sum+labelSets[l][t][s], n+1
				}
			}
		}
		replicates[i] = sum / float64(n)
	}
	slices.Sort(replicates)
	return quantile(replicates, Level/2), quantile(replicates, 1-Level/2)
}

// quantile interpolates between sorted numbers, as NumPy does by default.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(math.Floor(at))
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// student is the quantile of Student's distribution for n differences, above which a share of it
// lies.
func student(n int, above float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(1 - above)
}

// power is the share of comparisons that find a difference of the size that [Detectable] returns.
const power = 0.8

// Detectable returns the difference that n pairs find in about four of five cases, if the
// differences are spread as std says and several tests share the [Level]: (t₁₋α/₂ₘ + t_power)
// std/√n. It is infinite for pairs that could find none.
func Detectable(std float64, n, tests int) float64 {
	if n < MinPairs(Level, tests) {
		return math.Inf(1)
	}
	return (student(n, Level/2/float64(max(tests, 1))) + student(n, 1-power)) * std / math.Sqrt(float64(n))
}
