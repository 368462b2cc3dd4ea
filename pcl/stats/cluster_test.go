package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestIntraclassCorrelation: the example of Shrout and Fleiss (1979), six targets with four ratings each, whose ICC(1,1) they
// give as 0.17; groups that differ alone, and members that differ alone.
func TestIntraclassCorrelation(t *testing.T) {
	targets := [][]float64{{9, 2, 5, 8}, {6, 1, 3, 2}, {8, 4, 6, 8}, {7, 1, 2, 6}, {10, 5, 6, 9}, {6, 2, 4, 7}}
	if got := IntraclassCorrelation(targets); math.Abs(got-0.1657) > 5e-5 {
		t.Errorf("ICC(1,1) = %.4f, published 0.17", got)
	}
	if got := IntraclassCorrelation([][]float64{{1, 1}, {2, 2}}); got != 1 {
		t.Errorf("equal members: %g", got)
	}
	if got := IntraclassCorrelation([][]float64{{1, 2}, {2, 1}}); got != -1 {
		t.Errorf("equal groups of two: %g", got)
	}
	if got := IntraclassCorrelation([][]float64{{1, 1}, {1, 1}}); !math.IsNaN(got) {
		t.Errorf("nothing varies: %g", got)
	}
}

// correlated are nine differences of mean 0 with an intraclass correlation of rho within three groups.
func correlated(r *rand.Rand, rho float64) (x, zero []float64) {
	for range 3 {
		own := r.NormFloat64() * math.Sqrt(rho)
		for range 3 {
			x, zero = append(x, own+r.NormFloat64()*math.Sqrt(1-rho)), append(zero, 0)
		}
	}
	return x, zero
}

// TestSignFlipOfCorrelatedSituations: how often the test over three label sets × three timelines finds a difference where
// there is none. docs/protocol.md §3.5 has these numbers.
func TestSignFlipOfCorrelatedSituations(t *testing.T) {
	const n = 2000
	for rho, want := range map[float64]float64{0: 0.047, 0.1: 0.065, 0.2: 0.09, 0.3: 0.115, 0.4: 0.14, 0.7: 0.235} {
		r, found := rand.New(rand.NewPCG(1, uint64(100*rho))), 0
		for range n {
			x, zero := correlated(r, rho)
			out := must.Get(SignFlip(x, zero))(t)
			if out.P <= 0.05 {
				found++
			}
		}
		if got := float64(found) / n; math.Abs(got-want) > 0.02 {
			t.Errorf("correlation %g: %.3f of the tests at 5 %% find a difference, want about %.3f", rho, got, want)
		} else {
			t.Logf("correlation %g: %.3f", rho, got)
		}
	}
}

// TestStarsOfEqualMethods: how often some method is told from the one with the highest mean, although all are equal: more
// often than in 5 %, since Holm's correction does not know that the highest was chosen. docs/protocol.md §3.5 has these numbers.
func TestStarsOfEqualMethods(t *testing.T) {
	const n, situations = 800, 9
	for methods, want := range map[int]float64{5: 0.07, 12: 0.12} {
		r, found := rand.New(rand.NewPCG(2, uint64(methods))), 0
		for range n {
			scores, best, highest := make([][]float64, methods), 0, math.Inf(-1)
			for m := range scores {
				for range situations {
					scores[m] = append(scores[m], r.NormFloat64())
				}
				if mean := floats.Sum(scores[m]); mean > highest {
					best, highest = m, mean
				}
			}
			var p []float64
			for m := range scores {
				if m != best {
					out := must.Get(SignFlip(scores[m], scores[best]))(t)
					p = append(p, out.P)
				}
			}
			adjusted := must.Get(Holm(p))(t)
			if slices.Min(adjusted) <= 0.05 {
				found++
			}
		}
		if got := float64(found) / n; math.Abs(got-want) > 0.025 {
			t.Errorf("%d equal methods: in %.3f some are told apart, want about %.2f", methods, got, want)
		} else {
			t.Logf("%d methods: %.3f", methods, got)
		}
	}
}
