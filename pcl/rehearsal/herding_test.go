package rehearsal

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHerding: the example of docs/method.md §5.7, and every choice of random ones, found by trying
// all.
func TestHerding(t *testing.T) {
	if got := herd([][]float64{{0}, {1}, {2}, {9}}, 1); !slices.Equal(got, []int{2}) {
		t.Errorf("of 0, 1, 2, 9 it takes number %v first, want the 2", got)
	}
	r := rand.New(rand.NewPCG(8, 8))
	for range 100 {
		n := 1 + r.IntN(9)
		features := gaussian(r, n, 3)
		mean := make([]float64, 3)
		for _, f := range features {
			add(mean, 1/float64(n), f)
		}
		got, sum := herd(features, n+2), make([]float64, 3)
		if !slices.Equal(sorted(got), everyInt(n)) {
			t.Fatalf("ranked %v, want all %d", got, n)
		}
		off := func(i, k int) float64 {
			d := slices.Clone(mean)
			add(d, -1/float64(k), sum)
			add(d, -1/float64(k), features[i])
			return math.Sqrt(inner(d, d))
		}
		for k, i := range got {
			for _, other := range got[k:] {
				if off(i, k+1) > off(other, k+1)+1e-12 {
					t.Fatalf("choice %d is %d at %g; %d is at %g", k, i, off(i, k+1), other, off(other, k+1))
				}
			}
			add(sum, 1, features[i])
		}
	}
	if got := herd(nil, 3); got != nil {
		t.Errorf("of nothing it takes %v", got)
	}
}

func everyInt(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
