package analytic

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// TestProject compares the random features with sums of single products, also where the number of
// features is no multiple of a group's.
func TestProject(t *testing.T) {
	for _, d := range []int{1, 7, 8, 33, 1280} {
		t.Run(fmt.Sprint(d, " features"), func(t *testing.T) {
			const m = 50
			rng, drawn := rand.New(rand.NewPCG(1, 2)), seed.New(5, "ranpac", d, m)
			x, want := make([]uint8, d), make([]int, m)
			for i := range x {
				x[i] = uint8(rng.IntN(256))
				for j := range want {
					want[j] += int(x[i]) * (int(drawn.Uint64()>>63)*2 - 1)
				}
			}
			got := make([]float32, m)
			drawSigns(5, d, m).project(x, got)
			for j, sum := range want {
				if w := float32(min(255, max(0, sum)/16)); got[j] != w {
					t.Fatalf("column %d is %v; want %v", j, got[j], w)
				}
			}
		})
	}
}

// BenchmarkProject measures the random features of a sample.
func BenchmarkProject(b *testing.B) {
	x, out := make([]uint8, 1280), make([]float32, 5000)
	for i := range x {
		x[i] = uint8(i)
	}
	r := drawSigns(0, len(x), len(out))
	for b.Loop() {
		r.project(x, out)
	}
}
