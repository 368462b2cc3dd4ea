package tsne

import (
	"fmt"
	"math"
	"testing"
)

// objectiveValue is e Σ p_ij log(p_ij/w_ij) + log Z: KL(P‖Q) written out for e = 1, as ΣP = 1, and
// for others what the exaggerated gradient descends.
func objectiveValue(p [][]float64, y [][2]float64, e float64) float64 {
	cost, z := 0.0, 0.0
	for i := range y {
		for j := range y {
			if i != j {
				w := 1 / (1 + math.Pow(math.Hypot(y[i][0]-y[j][0], y[i][1]-y[j][1]), 2))
				z += w
				if p[i][j] > 0 {
					cost += e * p[i][j] * math.Log(p[i][j]/w)
				}
			}
		}
	}
	return cost + math.Log(z)
}

func TestGradientByDifferences(t *testing.T) {
	x, _ := clusters(3, 12, 5, 2, 1)
	p := affinitiesOf(t, x, 6)
	for _, size := range []float64{1e-4, 1, 30} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			for _, e := range []float64{1, 12} {
				y := plane(len(x), size, 2)
				g := make([][2]float64, len(y))
				descent(t.Context(), p, y, g, e)
				if kl := divergence(t.Context(), p, y); math.Abs(kl-objectiveValue(p, y, 1)) > 1e-9*kl {
					t.Errorf("size %v: KL is %v; want %v", size, kl, objectiveValue(p, y, 1))
				}
				h, scale := 1e-4, norm(g)
				for i := range y {
					for a := range y[i] {
						at := y[i][a]
						y[i][a] = at + h
						up := objectiveValue(p, y, e)
						y[i][a] = at - h
						down := objectiveValue(p, y, e)
						y[i][a] = at
						if want := (up - down) / (2 * h); math.Abs(g[i][a]-want) > 1e-5*scale+1e-10 {
							t.Fatalf("size %v, exaggeration %v: ∂C/∂y[%d][%d] = %v; differences give %v", size, e, i, a, g[i][a], want)
						}
					}
				}
			}
		})
	}
}
