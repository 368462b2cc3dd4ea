package stats

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Level is the level of the tests of [Contrasts]; their intervals have 1 − Level.
const Level = 0.05

// Contrast is what situations show about the difference of a method from a reference.
type Contrast struct {
	Pairs      int     // situations
	Difference float64 // mean of method − reference
	Std        float64 // sample standard deviation of the differences; NaN for one pair
	Low, High  float64 // the 95 % interval of the difference alone; NaN if there are too few pairs for one
	// P is the two-sided p-value of [SignFlip], and Adjusted the same after [Holm]'s correction for all contrasts that have
	// one; both are NaN for fewer pairs than [MinPairs].
	P, Adjusted float64
	// Grouped says that some label set has several timelines. Situations are then not independent, and the interval is that
	// of a bootstrap that draws whole label sets, without one if there is only one of them.
	Grouped bool
	Needed  int // the least number of pairs with which as many contrasts could differ
	// Differs is the verdict: Adjusted is at most [Level] and, if situations are grouped, the interval does not contain 0.
	Differs bool
}

// Contrasts compares methods with references: method i has the scores methods[i], one for each situation, and its
// reference references[i] has those of the same situations. All contrasts are shown together, and their p-values corrected
// for that. The interval of independent situations is the test turned round: it has the differences that [SignFlip]
// at [Level] does not refuse, so that it excludes 0 exactly if P is at most Level. More than 20 pairs have Student's interval.
//
// Source of the interval: J. Hartigan, Using subsample values as typical values, JASA 64 (1969).
func Contrasts(methods, references [][]Score) ([]Contrast, error) {
	if len(methods) != len(references) {
		return nil, errors.New("stats: want a reference for each method")
	}
	out, p, tested := make([]Contrast, len(methods)), []float64{}, []*Contrast{}
	for i := range methods {
		c, err := contrast(methods[i], references[i])
		if err != nil {
			return nil, err
		}
		c.Needed = max(MinPairs, Needed(Level, len(methods)))
		if out[i] = c; !math.IsNaN(c.P) {
			p, tested = append(p, c.P), append(tested, &out[i])
		}
	}
	adjusted, err := Holm(p)
	for i, c := range tested {
		c.Adjusted = adjusted[i]
		c.Differs = c.Adjusted <= Level && !(c.Grouped && !(c.Low > 0 || c.High < 0))
	}
	return out, err
}

func contrast(method, reference []Score) (c Contrast, err error) {
	nan := math.NaN()
	c = Contrast{Low: nan, High: nan, P: nan, Adjusted: nan}
	a, b, err := Situations(method, reference)
	if err != nil {
		return c, err
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	c.Pairs = len(d)
	c.Difference, c.Std = stat.MeanStdDev(d, nil)
	if c.Pairs >= MinPairs {
		r, err := SignFlip(a, b)
		if err != nil {
			return c, err
		}
		c.P = r.P
		c.Low, c.High = turned(d)
	}
	labelSets := map[uint64]bool{}
	for _, s := range method {
		labelSets[s.LabelSet] = true
	}
	if c.Grouped = len(labelSets) < c.Pairs; !c.Grouped {
		return c, nil
	}
	c.Low, c.High = nan, nan
	if len(labelSets) > 1 {
		i, err := BootstrapPair(method, reference, MeanDifference, Plan{Over: Nested, OneFewer: true, Level: 1 - Level})
		if err != nil {
			return c, err
		}
		c.Low, c.High = i.Low, i.High
	}
	return c, nil
}

// turned returns the interval of the mean of differences that the sign-flip test gives: if k choices of signs of 2ⁿ may
// be as far from 0 on one side, it reaches from the k-th smallest to the k-th largest mean of a subset of the differences.
// For a shift x, flipping the signs of a subset leaves the sum as large exactly if the mean of the subset is at most x.
func turned(d []float64) (low, high float64) {
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

// student is the quantile of Student's distribution for n differences, above which a share of it lies.
func student(n int, above float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile(1 - above)
}

// Power is the share of comparisons that find a difference of the size that [Detectable] returns.
const Power = 0.8

// Detectable returns the difference that n pairs find in about [Power] of cases, if the differences are spread as std says
// and several tests share the [Level]: (t₁₋α/₂ₘ + t_power) std/√n. It is infinite for pairs that could find none.
func Detectable(std float64, n, tests int) float64 {
	if n < max(MinPairs, Needed(Level, tests)) {
		return math.Inf(1)
	}
	return (student(n, Level/2/float64(max(tests, 1))) + student(n, 1-Power)) * std / math.Sqrt(float64(n))
}

// PairsFor returns how many pairs find a difference in about [Power] of cases, and whether limit pairs suffice.
func PairsFor(difference, std float64, tests, limit int) (n int, enough bool) {
	for n = MinPairs; n <= limit; n++ {
		if Detectable(std, n, tests) <= math.Abs(difference) {
			return n, true
		}
	}
	return limit, false
}
