package stats

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// differing makes situations with the differences d, of label sets of their own.
func differing(d []float64) (out []Shared) {
	for i, x := range d {
		at := 50 + 3*float64(i)
		out = append(out, Shared{Situation: Situation{uint64(i), uint64(i)}, Means: []float64{at + x, at}})
	}
	return out
}

// TestContrastsOfSciPy: numbers of SciPy 1.17.1, for the interval as the shifts that its test does
// not refuse:
//
//	def p(d, shift=0.0):
//	    return stats.permutation_test((d - shift,), lambda x, axis: np.mean(x, axis=axis), permutation_type="samples",
//	                                  n_resamples=np.inf, vectorized=True).pvalue
//	def interval(d):
//	    ends = []
//	    for side in (-1, 1):
//	        a, b = d.mean(), d.mean() + side * 20 * d.std(ddof=1)
//	        for _ in range(60):
//	            m = (a + b) / 2
//	            a, b = (m, b) if p(d, m) > 0.05 else (a, m)
//	        ends.append(a)
//	    return ends
//	random = np.random.default_rng(41)
//	for n, mean in ((6, 3), (9, 0.5), (9, 2), (12, 1)):
//	    d = np.round(random.normal(mean, 2, n), 2); print(d, p(d), interval(d))
//	d = np.round(random.normal(1, 2, 25), 2); print(d, stats.t.interval(0.95, 24, d.mean(), stats.sem(d)))
func TestContrastsOfSciPy(t *testing.T) {
	cases := []struct {
		d            []float64
		p, low, high float64
	}{
		{[]float64{0.54, 3.53, 2.99, 4.0, 0.35, 5.22}, 0.03125, 0.35, 5.22},
		{[]float64{0.69, -1.84, -2.22, -2.11, -0.94, 2.87, 2.29, -0.59, -0.59}, 0.66796875, -1.666666666666714, 1.2275},
		{[]float64{5.86, 3.81, 0.39, 1.7, 1.14, 2.3, 3.76, 1.45, 2.74}, 0.00390625, 1.32, 3.9325},
		{[]float64{2.14, 2.57, -0.26, 0.56, 4.94, 0.63, 1.06, 1.88, -0.15, 0.22, 4.36, 3.59}, 0.0029296875,
			0.6633333333333, 2.9325},
		{[]float64{-1.21, 1.13, -1.58, -2.06, 1.01, 4.05, 0.84, 3.94, -1.11, 1.27, 1.16, 1.17, 2.99, 2.15, -0.1, -1.7, -0.11,
			0.96, -0.1, -2.05, -2.53, 2.62, 1.51, -0.17, 1.88},
			math.NaN(), -0.20279597139453132, 1.3195959713945313},
	}
	var all [][]Shared
	for _, c := range cases {
		all = append(all, differing(c.d))
	}
	got := Contrasts(all...)
	for i, c := range cases {
		g := got[i]
		switch {
		case math.Abs(g.Low-c.low) > 1e-8:
			t.Errorf("%v: math.Abs(g.Low-c.low) is %g; want at most 1e-8", c.d, math.Abs(g.Low-c.low))
		case math.Abs(g.High-c.high) > 1e-8:
			t.Errorf("%v: math.Abs(g.High-c.high) is %g; want at most 1e-8", c.d, math.Abs(g.High-c.high))
		case !math.IsNaN(c.p) && math.Abs(g.P-c.p) > 1e-12:
			t.Errorf("%v: p = %v, %v to %v, want %v, %v to %v", c.d, g.P, g.Low, g.High, c.p, c.low, c.high)
		}
	}
	if a := got[2].Adjusted; a != 4*0.00390625 { // the second smallest of five
		t.Errorf("p = %v after Holm's correction", a)
	}
}

// TestDetectable: 2.5 (t.ppf(1 − 0.025/tests, n − 1) + t.ppf(0.8, n − 1))/√n by SciPy 1.17.1, and
// what can't be found.
func TestDetectable(t *testing.T) {
	for _, c := range []struct {
		n, tests int
		want     float64
	}{
		{9, 1, 2.6624113774759883}, {9, 3, 3.2538761288784905}, {18, 2, 1.9571123167953757}, {40, 12, 1.5396329268395943},
		{5, 1, math.Inf(1)}, {9, 12, 2.5 * (student(9, 0.025/12) + student(9, 0.2)) / 3}, {9, 13, math.Inf(1)},
	} {
		if got := Detectable(2.5, c.n, c.tests); got != c.want && !(math.Abs(got-c.want) < 1e-6) {
			t.Errorf("%d pairs, %d tests: %v, want %v", c.n, c.tests, got, c.want)
		}
	}
}

// TestContrastsOfFew: too few situations, or only one label set, or too many methods for nine
// situations.
func TestContrastsOfFew(t *testing.T) {
	nine := differing([]float64{5, 6, 7, 5, 6, 7, 5, 6, 7})
	switch c := Contrasts(nine[:5])[0]; {
	case c.Differs:
		t.Error("five situations: c.Differs is true")
	case c.Needed != 6:
		t.Errorf("five situations: c.Needed is %d; want 6", c.Needed)
	case !math.IsNaN(c.P):
		t.Error("five situations: math.IsNaN(c.P) is false")
	case !math.IsNaN(c.Low):
		t.Error("five situations: math.IsNaN(c.Low) is false")
	case math.Abs(c.Difference-5.8) > 1e-9:
		t.Errorf("five situations: math.Abs(c.Difference-5.8) is %g; want at most 1e-9", math.Abs(c.Difference-5.8))
	}
	for tests, want := range map[int]bool{1: true, 12: true, 13: false} {
		t.Run(fmt.Sprint(tests), func(t *testing.T) {
			switch c := Contrasts(slices.Repeat([][]Shared{nine}, tests)...)[0]; {
			case c.Differs != want:
				t.Errorf("%d comparisons: c.Differs is %t; want %t", tests, c.Differs, want)
			case (c.Needed <= 9) != want:
				t.Errorf("%d comparisons: (c.Needed <= 9) is %t; want %t", tests, (c.Needed <= 9), want)
			}
		})
	}
	for i := range nine {
		nine[i].LabelSet = 0
	}
	switch one := Contrasts(nine)[0]; {
	case one.Differs:
		t.Error("one label set: one.Differs is true")
	case !one.Grouped:
		t.Error("one label set: one.Grouped is false")
	case !math.IsNaN(one.Low):
		t.Error("one label set: math.IsNaN(one.Low) is false")
	}
}

// TestGroupedInterval: the interval's ends are about the quantiles of all replicates of small
// benchmarks, as listed.
func TestGroupedInterval(t *testing.T) {
	for i, c := range scipy(t).Bootstrap {
		if c.Over != "crossed" || !c.OneFewer || len(c.Scores[0]) == 1 {
			continue
		}
		zero := scored(c.Scores)
		for i := range zero {
			zero[i].Value = 0
		}
		got := Contrasts(Situations(scored(c.Scores), zero))[0]
		low, high := c.Mean.Brackets["0.025"], c.Mean.Brackets["0.975"]
		switch {
		case !got.Grouped:
			t.Errorf("case %d: got.Grouped is false", i)
		case got.Low < low[0]-1e-9:
			t.Errorf("case %d: got.Low is %g; want at least %g", i, got.Low, low[0]-1e-9)
		case got.Low > low[1]+1e-9:
			t.Errorf("case %d: got.Low is %g; want at most %g", i, got.Low, low[1]+1e-9)
		case got.High < high[0]-1e-9:
			t.Errorf("case %d: got.High is %g; want at least %g", i, got.High, high[0]-1e-9)
		case got.High > high[1]+1e-9:
			t.Errorf("case %d: got.High is %g; want at most %g", i, got.High, high[1]+1e-9)
		}
	}
}

var verdicts = flag.Int("verdicts", 200,
	"how many pairs TestVerdicts simulates; 2000 for the numbers of docs/protocol.md")

// TestVerdicts: how often nine situations are said to differ. With situations of their own label
// sets that is at most 5 % where there is no difference, and about as often as planned at the
// difference that Detectable gives. Three label sets with three timelines each, as in the paper's
// tables, are reported for three correlations within label sets.
func TestVerdicts(t *testing.T) {
	const situations = 9
	// found is the share of verdicts "differs", and covered that of intervals with the true
	// difference.
	simulate := func(difference, rho float64, grouped bool) (found, alone, covered float64) {
		r := rand.New(rand.NewPCG(41, uint64(100*rho+1000*difference)))
		for range *verdicts {
			d, _ := correlated(r, rho)
			for i := range d {
				d[i] += difference
			}
			pairs := differing(d)
			for i := range pairs {
				if grouped {
					pairs[i].LabelSet = uint64(i / 3)
				}
			}
			c := Contrasts(pairs)
			count := func(into *float64, yes bool) {
				if yes {
					*into += 1 / float64(*verdicts)
				}
			}
			count(&found, c[0].Differs)
			count(&alone, c[0].P <= Level)
			count(&covered, c[0].Low <= difference && difference <= c[0].High)
		}
		return found, alone, covered
	}
	slack := 3 * math.Sqrt(Level*(1-Level)/float64(*verdicts))
	for _, rho := range []float64{0, 0.25, 0.5} {
		t.Run(fmt.Sprint(rho), func(t *testing.T) {
			f, _, in := simulate(0, rho, false)
			t.Logf("no difference, correlation %g, taken for independent: %.3f differ, %.3f of the intervals cover", rho, f, in)
			if rho == 0 && (f > Level+slack || in < 1-Level-slack) {
				t.Errorf("independent situations: %.3f are said to differ, %.3f of the intervals cover", f, in)
			}
			f, alone, in := simulate(0, rho, true)
			t.Logf(
				"no difference, correlation %g, label sets known: %.3f differ (%.3f by the test alone), %.3f of the intervals cover",
				rho, f, alone, in)
			if f > alone {
				t.Errorf("correlation %g: the interval adds differences", rho)
			}
		})
	}
	for _, size := range []float64{0.5, 1, Detectable(1, situations, 1), 1.5} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			f, _, in := simulate(size, 0, false)
			t.Logf("difference of %.2f standard deviations: %.3f differ, %.3f of the intervals cover", size, f, in)
			if size == Detectable(1, situations, 1) && math.Abs(f-power) > 0.05+slack {
				t.Errorf("a difference of %.2f is found in %.3f, want about %g", size, f, power)
			}
		})
	}
}

// correlated are nine differences of mean 0 with an intraclass correlation of rho within three
// groups.
func correlated(r *rand.Rand, rho float64) (x, zero []float64) {
	for range 3 {
		own := r.NormFloat64() * math.Sqrt(rho)
		for range 3 {
			x, zero = append(x, own+r.NormFloat64()*math.Sqrt(1-rho)), append(zero, 0)
		}
	}
	return x, zero
}

// TestSignFlipOfCorrelatedSituations: how often the test over three label sets × three timelines
// finds a difference where there is none. docs/protocol.md §3.5 has these numbers.
func TestSignFlipOfCorrelatedSituations(t *testing.T) {
	const n = 2000
	for rho, want := range map[float64]float64{0: 0.047, 0.1: 0.065, 0.2: 0.09, 0.3: 0.115, 0.4: 0.14, 0.7: 0.235} {
		t.Run(fmt.Sprint(rho), func(t *testing.T) {
			r, found := rand.New(rand.NewPCG(1, uint64(100*rho))), 0
			for range n {
				x, zero := correlated(r, rho)
				if signFlip(x, zero) <= 0.05 {
					found++
				}
			}
			if got := float64(found) / n; math.Abs(got-want) > 0.02 {
				t.Errorf("correlation %g: %.3f of the tests at 5 %% find a difference, want about %.3f", rho, got, want)
			} else {
				t.Logf("correlation %g: %.3f", rho, got)
			}
		})
	}
}
