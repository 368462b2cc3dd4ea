package method

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestRadGradient compares the slope of the relative distance with finite differences.
func TestRadGradient(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 200 {
		k := 3 + r.IntN(5)
		step := sample{rows: gaussian(r, k, k+2)}.step(1)
		kept := keep(step, make([]float64, k))
		rad := func(i int, p []float64) float64 {
			off := slices.Clone(p)
			off[i]--
			e, y := normOf(kept.gram, off), math.Sqrt(kept.dot(i, i))
			return e / (e + y)
		}
		p := gaussian(r, 1, k)[0]
		g, fd := radGradient(kept, 0, p), make([]float64, k)
		for j := range fd {
			up, down := slices.Clone(p), slices.Clone(p)
			up[j] += 1e-6
			down[j] -= 1e-6
			fd[j] = (rad(0, up) - rad(0, down)) / 2e-6
		}
		wants(t, g, fd, 1e-6, "gradient")
	}
}

// TestMaxDOReleaseSymmetry: equal situations get equal weights, and for two streams the one whose
// gradient is worth more to the other gets more.
func TestMaxDOReleaseSymmetry(t *testing.T) {
	for _, rows := range [][][]float64{{{1, 0}, {0, 1}}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}} {
		k := len(rows)
		w := weigh(t, build(t, "maxdo-release", nil), sample{rows: rows}.step(1))
		want := make([]float64, k)
		fill(want, 1/float64(k))
		if !near(w, want, 1e-12) {
			t.Errorf("%v: weights %v, want %v", rows, w, want)
		}
	}
	// (4,0) overshoots (1,1) and is cut down; (1,1) is of full use to (4,0).
	if w := weigh(t, build(t, "maxdo-release", nil), sample{rows: [][]float64{{4, 0}, {1, 1}}}.step(1)); !(w[1] > w[0]) {
		t.Errorf("weights %v, want more for the second", w)
	}
}
