package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestImprovementAsInSciPy(t *testing.T) {
	for i, c := range scipy(t).Improvement {
		if got, back := Improvement(c.A, c.B), Improvement(c.B, c.A); !near(got, c.P) || !near(got+back, 1) {
			t.Errorf("case %d: %v and %v the other way round, SciPy's U gives %v", i, got, back, c.P)
		}
	}
}

// TestAggregates: what does not depend on the scores' order or unit.
func TestAggregates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		situation := rapid.SliceOfN(rapid.Float64Range(0, 100), 3, 3)
		a := rapid.SliceOfN(situation, 2, 6).Draw(t, "a")
		b := rapid.SliceOfN(situation, len(a), len(a)).Draw(t, "b")
		scale, shift := rapid.Float64Range(0.1, 10).Draw(t, "scale"), rapid.Float64Range(-50, 50).Draw(t, "shift")
		changed := make([][]float64, len(a))
		for i := range a {
			for _, x := range a[i] {
				changed[i] = append(changed[i], scale*x+shift)
			}
		}
		if got, want := Mean(changed), scale*Mean(a)+shift; math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
			t.Fatalf("mean: %v, want %v", got, want)
		}
		if got, want := MeanDifference(a, b), Mean(a)-Mean(b); got != want {
			t.Fatalf("mean difference %v, want %v", got, want)
		}
		if p := Improvement(a, b); p < 0 || p > 1 {
			t.Fatalf("a probability of %v", p)
		}
	})
}
