package device

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func randomRow(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64() * math.Exp(4*rng.NormFloat64()))
	}
	return x
}

// TestDots: four products at once have the bits of gonum's single ones, for every length and alignment, and where entries are
// not finite.
func TestDots(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, n := range []int{1, 2, 3, 7, 8, 9, 15, 16, 24, 1023, dotBlock, dotBlock + 8, 5*dotBlock + 13} {
		for shift := range 2 {
			for _, special := range []float32{0, inf, nan, math.MaxFloat32, math.SmallestNonzeroFloat32} {
				var rows [4][]float32
				for i := range rows {
					rows[i] = randomRow(rng, n+shift)[shift:]
				}
				if special != 0 {
					rows[1][n/2], rows[2][n-1] = special, special
				}
				dots([2][]float32(rows[:2]), [2][]float32(rows[2:]), func(i, j int, v float64) {
					if want := ddot(rows[i], rows[2+j]); v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
						t.Errorf("%d entries, shift %d, with %g: product of %d and %d is %v, want %v", n, shift, special, i, j, v, want)
					}
				})
			}
		}
	}
}

// BenchmarkDots times all products of the rows of an MLP, and one by one as gonum makes them.
func BenchmarkDots(b *testing.B) {
	for _, k := range []int{2, 6} {
		rng, rows := rand.New(rand.NewPCG(1, 1)), make([][]float32, k)
		for i := range rows {
			rows[i] = randomRow(rng, 112_830)
		}
		b.Run(fmt.Sprintf("K=%d/in-fours", k), func(b *testing.B) {
			for b.Loop() {
				for i := 0; i < k; i += 2 {
					for j := 0; j <= i; j += 2 {
						dots([2][]float32(rows[i:]), [2][]float32(rows[j:]), func(int, int, float64) {})
					}
				}
			}
		})
		b.Run(fmt.Sprintf("K=%d/one-by-one", k), func(b *testing.B) {
			for b.Loop() {
				for i := range k {
					for j := range i + 1 {
						ddot(rows[i], rows[j])
					}
				}
			}
		})
	}
}
