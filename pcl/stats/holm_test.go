package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestHolmOfDerrac: J. Derrac et al., A practical tutorial on the use of nonparametric statistical
// tests, Swarm and Evolutionary Computation 1 (2011), Table 16: the p-values of eight methods
// against a control, in print with six decimals, and Holm's.
func TestHolmOfDerrac(t *testing.T) {
	p := []float64{0.000006, 0.000332, 0.009823, 0.014171, 0.083642, 0.141093, 0.518605, 0.660706}
	want := []float64{0.000050, 0.002324, 0.058940, 0.070857, 0.334569, 0.423278, 1, 1}
	got := Holm(p)
	for i := range want {
		if math.Abs(got[i]-want[i]) > 8*5e-7 {
			t.Errorf("%v becomes %v, want %v", p[i], got[i], want[i])
		}
	}
	slices.Reverse(p)
	backwards := Holm(p)
	slices.Reverse(backwards)
	if !slices.Equal(got, backwards) {
		t.Errorf("in another order: %v", backwards)
	}
}

// TestHolmIsClosed compares with closed testing: a hypothesis falls when every set of hypotheses
// with it falls by Bonferroni's correction.
func TestHolmIsClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 7).Draw(t, "p")
		got := Holm(p)
		for i := range p {
			want := 0.0
			for set := range 1 << len(p) {
				if set>>i&1 == 0 {
					continue
				}
				least, size := 1.0, 0.0
				for j := range p {
					if set>>j&1 == 1 {
						least, size = min(least, p[j]), size+1
					}
				}
				want = max(want, min(1, size*least))
			}
			if !near(got[i], want) {
				t.Fatalf("%v: %v becomes %v, want %v", p, p[i], got[i], want)
			}
		}
	})
}
