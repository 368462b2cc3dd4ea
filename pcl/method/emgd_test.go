package method

import (
	"math"
	"slices"
	"testing"
)

// TestConvergedRowIsNoStream checks that a stream with gradient 0 changes nothing for the others:
// same weights, same memory of norms, as if it were not in the step.
func TestConvergedRowIsNoStream(t *testing.T) {
	for _, name := range []string{"emgd-gmc", "emgd-gs"} {
		with, without := build(t, name, nil), build(t, name, nil)
		for range 3 {
			w, v := make([]float64, 3), make([]float64, 2)
			out, err := with.Weights(&Step{IDs: []int{1, 2, 3}, Gram: []float64{4, 0, 1, 0, 0, 0, 1, 0, 9}}, w)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := without.Weights(&Step{IDs: []int{1, 3}, Gram: []float64{4, 1, 1, 9}}, v); err != nil {
				t.Fatal(err)
			}
			if math.Abs(w[0]-v[0]) > 1e-15 || w[1] != 0 || math.Abs(w[2]-v[1]) > 1e-15 {
				t.Errorf("%s: weights %v beside a converged stream, %v without it", name, w, v)
			}
			if !slices.Equal(out.Dropped, []int{2}) || out.Certificate.Sigma[1] != 0 {
				t.Errorf("%s: dropped %v, σ = %v; want stream 2 left out", name, out.Dropped, out.Certificate.Sigma)
			}
		}
	}
}
