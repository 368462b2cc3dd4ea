package stats

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"
)

func TestWilcoxonAsInSciPy(t *testing.T) {
	for i, c := range scipy(t).Wilcoxon {
		if p := wilcoxon(c.A, c.B); !same(p, c.Pratt) || !same(p, c.Zsplit) {
			t.Errorf("case %d, %d pairs: p = %v; SciPy says %v (Pratt), %v (split zeros)", i, len(c.A), p, c.Pratt, c.Zsplit)
		}
	}
}

func TestSignFlipAsInSciPy(t *testing.T) {
	for i, c := range scipy(t).SignFlip {
		if p := signFlip(c.A, c.B); !same(p, c.P) {
			t.Errorf("case %d, %d pairs: p = %v, want %v", i, len(c.A), p, c.P)
		}
		d, within := differences(c.A, c.B)
		sampled := signFlipSampled(d, math.Abs(floats.Sum(d))-within, 20_000, 1)
		if off := math.Abs(sampled - c.P); off > 1e-4+5*math.Sqrt(c.P*(1-c.P)/20_000) {
			t.Errorf("case %d: sampled p = %v, want %v", i, sampled, c.P)
		}
	}
}

func TestNeeded(t *testing.T) {
	for _, c := range []struct {
		alpha float64
		tests int
		want  int
	}{{0.05, 1, 6}, {0.05, 0, 6}, {0.01, 1, 8}, {0.1, 1, 6}, {0.05, 12, 9}, {0.05, 13, 10}, {0.05, 136, 13}} {
		if got := MinPairs(c.alpha, c.tests); got != c.want {
			t.Errorf("%d tests at %v need %d pairs, want %d", c.tests, c.alpha, got, c.want)
		}
	}
	if n := MinPairs(-1, 1); n < 1000 { // no number of pairs will do, and it ends all the same
		t.Errorf("a level below 0 takes %d pairs", n)
	}
}

// TestPairedTestsByEnumeration compares both tests with their definitions.
func TestPairedTestsByEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(minPairs, 10).Draw(t, "n")
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
		if p := wilcoxon(a, b); !near(p, byEnumeration(ranks)) {
			t.Fatalf("Wilcoxon: %v; p is %v", p, byEnumeration(ranks))
		}
		if p := signFlip(a, b); !near(p, byEnumeration(sizes)) || !near(p, signFlip(b, a)) {
			t.Fatalf("sign flips: %v, and %v the other way; p is %v", p, signFlip(b, a), byEnumeration(sizes))
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
	if w, s := wilcoxon(a, a), signFlip(a, a); w != 1 || s != 1 {
		t.Errorf("p = %v by Wilcoxon's test, %v by sign flips", w, s)
	}
}

// TestManyPairs: beyond 40 differences that are not 0 the signs are drawn.
func TestManyPairs(t *testing.T) {
	long := make([]float64, 41)
	for i := range long {
		long[i] = float64(i + 1)
	}
	if p := signFlip(long, make([]float64, 41)); !same(p, 1.0/(draws+1)) {
		t.Errorf("41 differences, all of one sign: p = %v", p)
	}
	if p := signFlip(append(long[:40:40], 0), make([]float64, 41)); !same(p, math.Ldexp(2, -40)) {
		t.Errorf("40 differences and a zero: p = %v", p)
	}
}
