package stats

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/parallelcl/parallelcl/internal/must"
)

func TestWilcoxonAsInSciPy(t *testing.T) {
	for i, c := range scipy(t).Wilcoxon {
		r := must.Get(Wilcoxon(c.A, c.B))(t)
		if !same(r.P, c.Pratt) || !same(r.P, c.Zsplit) || !near(min(r.Plus, r.Minus), c.Statistic) {
			t.Errorf("case %d, %d pairs: %+v; SciPy says %v, p = %v (Pratt), %v (split zeros)", i, len(c.A), r, c.Statistic, c.Pratt, c.Zsplit)
		}
	}
}

func TestSignFlipAsInSciPy(t *testing.T) {
	for i, c := range scipy(t).SignFlip {
		r := must.Get(SignFlip(c.A, c.B))(t)
		if !same(r.P, c.P) || !r.Exact {
			t.Errorf("case %d, %d pairs: %+v, want p = %v", i, len(c.A), r, c.P)
		}
		sampled := must.Get(signFlipSampled(c.A, c.B, 20_000, 1))(t)
		if off := math.Abs(sampled.P - c.P); off > 1e-4+5*math.Sqrt(c.P*(1-c.P)/20_000) || sampled.Exact {
			t.Errorf("case %d: sampled %+v, want p = %v", i, sampled, c.P)
		}
	}
}

// TestFewPairsAreRefused: three pairs cannot show anything.
func TestFewPairsAreRefused(t *testing.T) {
	for n := range 8 {
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i] = float64(i + 1)
		}
		_, wilcoxon := Wilcoxon(a, b)
		_, flip := SignFlip(a, b)
		_, sampled := signFlipSampled(a, b, 10, 1)
		for _, err := range []error{wilcoxon, flip, sampled} {
			var few *TooFewError
			if refused := errors.As(err, &few); refused != (n < MinPairs) || refused && (few.Pairs != n || few.Needed != MinPairs) {
				t.Errorf("%d pairs: %v", n, err)
			}
		}
	}
}

func TestNeeded(t *testing.T) {
	for _, c := range []struct {
		alpha float64
		tests int
		want  int
	}{{0.05, 1, 6}, {0.05, 0, 6}, {0.01, 1, 8}, {0.1, 1, 5}, {0.05, 12, 9}, {0.05, 13, 10}, {0.05, 136, 13}} {
		if got := Needed(c.alpha, c.tests); got != c.want {
			t.Errorf("%d tests at %v need %d pairs, want %d", c.tests, c.alpha, got, c.want)
		}
	}
	if n := Needed(-1, 1); n < 1000 { // no number of pairs will do, and it ends all the same
		t.Errorf("a level below 0 takes %d pairs", n)
	}
	if MinPairs != Needed(0.05, 1) {
		t.Errorf("MinPairs is %d", MinPairs)
	}
}

// TestPairedTestsByEnumeration compares both tests with their definitions.
func TestPairedTestsByEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(MinPairs, 10).Draw(t, "n")
		whole := rapid.SliceOfN(rapid.IntRange(-4, 4), n, n)
		d := whole.Draw(t, "d")
		base := rapid.Float64Range(0.1, 0.9).Draw(t, "base")
		a, b := make([]float64, n), slices.Repeat([]float64{base}, n)
		for i := range d {
			a[i] = base + 0.1*float64(d[i]) // not exact: rounding must not matter
		}
		ranks := make([]float64, n)
		for i, x := range d {
			ranks[i] = 0.5
			for _, y := range d {
				switch {
				case y*y < x*x:
					ranks[i]++
				case y*y == x*x:
					ranks[i] += 0.5
				}
			}
			if x == 0 {
				ranks[i] = 0
			} else if x < 0 {
				ranks[i] = -ranks[i]
			}
		}
		sizes := make([]float64, n)
		for i, x := range d {
			sizes[i] = float64(x)
		}
		w, err := Wilcoxon(a, b)
		if err != nil || !near(w.P, byEnumeration(ranks)) || w.Plus+w.Minus != float64(n*(n+1)/2) {
			t.Fatalf("Wilcoxon %+v, %v; p is %v", w, err, byEnumeration(ranks))
		}
		s, err := SignFlip(a, b)
		if err != nil || !near(s.P, byEnumeration(sizes)) {
			t.Fatalf("sign flips %+v, %v; p is %v", s, err, byEnumeration(sizes))
		}
		back, err := SignFlip(b, a)
		if err != nil || !near(s.P, back.P) || !near(s.Mean, -back.Mean) {
			t.Fatalf("b − a: %+v, %v; a − b: %+v", back, err, s)
		}
	})
}

// byEnumeration is the share of all signs that give a sum as far from 0.
func byEnumeration(d []float64) float64 {
	observed := 0.0
	for _, x := range d {
		observed += x
	}
	far := 0
	for signs := range 1 << len(d) {
		sum := 0.0
		for i, x := range d {
			if signs>>i&1 == 0 {
				x = -x
			}
			sum += x
		}
		if math.Abs(sum) >= math.Abs(observed) {
			far++
		}
	}
	return math.Ldexp(float64(far), -len(d))
}

// TestNoDifference: nothing is significant where nothing differs.
func TestNoDifference(t *testing.T) {
	a := slices.Repeat([]float64{60}, 9)
	w, err := Wilcoxon(a, a)
	if err != nil || w.P != 1 || w.Zeros != 9 || w.Plus != 22.5 || w.Minus != 22.5 {
		t.Errorf("Wilcoxon: %+v, %v", w, err)
	}
	if s, err := SignFlip(a, a); err != nil || s.P != 1 || s.Zeros != 9 || s.Mean != 0 {
		t.Errorf("sign flips: %+v, %v", s, err)
	}
	if s, err := signFlipSampled(a, a, 10, 1); err != nil || s.P != 1 {
		t.Errorf("sampled sign flips: %+v, %v", s, err)
	}
}

func TestPairedTestsRefuse(t *testing.T) {
	good := []float64{1, 2, 3, 4, 5, 6}
	for name, pairs := range map[string][2][]float64{
		"lengths": {good, good[:5]}, "no number": {good, {1, 2, math.NaN(), 4, 5, 6}}, "infinite": {{1, math.Inf(1), 3, 4, 5, 6}, good},
	} {
		_, wilcoxon := Wilcoxon(pairs[0], pairs[1])
		_, flip := SignFlip(pairs[0], pairs[1])
		if wilcoxon == nil || flip == nil {
			t.Errorf("%s: %v, %v", name, wilcoxon, flip)
		}
	}
	long := make([]float64, 41)
	for i := range long {
		long[i] = float64(i + 1)
	}
	if r, err := SignFlip(long, make([]float64, 41)); err != nil || r.Exact || !same(r.P, 1.0/(draws+1)) {
		t.Errorf("41 differences, all of one sign: %+v, %v", r, err)
	}
	if r, err := SignFlip(append(long[:40:40], 0), make([]float64, 41)); err != nil || !same(r.P, math.Ldexp(2, -40)) {
		t.Errorf("40 differences and a zero: %+v, %v", r, err)
	}
}
