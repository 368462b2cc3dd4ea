package stats

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
)

// differing makes scores whose differences are d, in situations of label sets of their own.
func differing(d []float64) (method, reference []Score) {
	for i, x := range d {
		s := Score{LabelSet: uint64(i), Timeline: uint64(i), Value: 50 + 3*float64(i)}
		reference = append(reference, s)
		s.Value += x
		method = append(method, s)
	}
	return method, reference
}

// TestContrastsOfSciPy: numbers of SciPy 1.17.1, for the interval as the shifts that its test does not refuse:
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
		{[]float64{2.14, 2.57, -0.26, 0.56, 4.94, 0.63, 1.06, 1.88, -0.15, 0.22, 4.36, 3.59}, 0.0029296875, 0.6633333333333, 2.9325},
		{[]float64{-1.21, 1.13, -1.58, -2.06, 1.01, 4.05, 0.84, 3.94, -1.11, 1.27, 1.16, 1.17, 2.99, 2.15, -0.1, -1.7, -0.11, 0.96, -0.1, -2.05, -2.53, 2.62, 1.51, -0.17, 1.88},
			math.NaN(), -0.20279597139453132, 1.3195959713945313},
	}
	var methods, references [][]Score
	for _, c := range cases {
		m, r := differing(c.d)
		methods, references = append(methods, m), append(references, r)
	}
	got, err := Contrasts(methods, references)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		g := got[i]
		if math.Abs(g.Low-c.low) > 1e-8 || math.Abs(g.High-c.high) > 1e-8 || !math.IsNaN(c.p) && math.Abs(g.P-c.p) > 1e-12 {
			t.Errorf("%v: p = %v, %v to %v, want %v, %v to %v", c.d, g.P, g.Low, g.High, c.p, c.low, c.high)
		}
	}
	if a := got[2].Adjusted; a != 4*0.00390625 { // the second smallest of five
		t.Errorf("p = %v after Holm's correction", a)
	}
}

// TestDetectable: 2.5 (t.ppf(1 − 0.025/tests, n − 1) + t.ppf(0.8, n − 1))/√n by SciPy 1.17.1, and what can't be found.
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
	n, enough := PairsFor(2, 2.5, 2, 1000)
	if !enough || Detectable(2.5, n, 2) > 2 || Detectable(2.5, n-1, 2) <= 2 {
		t.Errorf("2 points take %d pairs", n)
	}
	if _, enough := PairsFor(0, 2.5, 2, 100); enough {
		t.Error("a difference of 0 can be found")
	}
}

// TestContrastsOfFew: too few situations, or only one label set, or too many methods for nine situations.
func TestContrastsOfFew(t *testing.T) {
	up := []float64{5, 6, 7, 5, 6, 7, 5, 6, 7}
	m, r := differing(up)
	few, err := Contrasts([][]Score{m[:5]}, [][]Score{r[:5]})
	if c := few[0]; err != nil || c.Differs || c.Needed != 6 || !math.IsNaN(c.P) || !math.IsNaN(c.Low) || math.Abs(c.Difference-5.8) > 1e-9 {
		t.Errorf("five situations: %+v (%v)", c, err)
	}
	for tests, want := range map[int]bool{1: true, 12: true, 13: false} {
		var methods, references [][]Score
		for range tests {
			methods, references = append(methods, m), append(references, r)
		}
		all, err := Contrasts(methods, references)
		if err != nil || all[0].Differs != want || (all[0].Needed <= 9) != want {
			t.Errorf("%d comparisons: %+v (%v)", tests, all[0], err)
		}
	}
	for i := range m {
		m[i].LabelSet, r[i].LabelSet = 0, 0
	}
	if one, err := Contrasts([][]Score{m}, [][]Score{r}); err != nil || one[0].Differs || !one[0].Grouped || !math.IsNaN(one[0].Low) {
		t.Errorf("one label set: %+v (%v)", one, err)
	}
}

var verdicts = flag.Int("verdicts", 200, "how many pairs TestVerdicts simulates; 2000 for the numbers of docs/protocol.md")

// TestVerdicts: how often nine situations are said to differ. With situations of their own label sets that is at most 5 % where
// there is no difference, and about as often as planned at the difference that Detectable gives. Three label sets with three
// timelines each, as in the paper's tables, are reported for three correlations within label sets.
func TestVerdicts(t *testing.T) {
	const situations = 9
	// found is the share of verdicts "differs", and covered that of intervals with the true difference.
	simulate := func(difference, rho float64, grouped bool) (found, alone, covered float64) {
		r := rand.New(rand.NewPCG(41, uint64(100*rho+1000*difference)))
		for range *verdicts {
			d, _ := correlated(r, rho)
			for i := range d {
				d[i] += difference
			}
			m, ref := differing(d)
			for i := range m {
				if grouped {
					m[i].LabelSet, ref[i].LabelSet = uint64(i/3), uint64(i/3)
				}
			}
			c, err := Contrasts([][]Score{m}, [][]Score{ref})
			if err != nil {
				t.Fatal(err)
			}
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
		f, _, in := simulate(0, rho, false)
		t.Logf("no difference, correlation %g, taken for independent: %.3f differ, %.3f of the intervals cover", rho, f, in)
		if rho == 0 && (f > Level+slack || in < 1-Level-slack) {
			t.Errorf("independent situations: %.3f are said to differ, %.3f of the intervals cover", f, in)
		}
		f, alone, in := simulate(0, rho, true)
		t.Logf("no difference, correlation %g, label sets known: %.3f differ (%.3f by the test alone), %.3f of the intervals cover", rho, f, alone, in)
		if f > alone {
			t.Errorf("correlation %g: the interval adds differences", rho)
		}
	}
	for _, size := range []float64{0.5, 1, Detectable(1, situations, 1), 1.5} {
		f, _, in := simulate(size, 0, false)
		t.Logf("difference of %.2f standard deviations: %.3f differ, %.3f of the intervals cover", size, f, in)
		if size == Detectable(1, situations, 1) && math.Abs(f-Power) > 0.05+slack {
			t.Errorf("a difference of %.2f is found in %.3f, want about %g", size, f, Power)
		}
	}
}
