package tsne

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

func TestCalibration(t *testing.T) {
	for name, draw := range map[string]func(r *rand.Rand) float64{
		"uniform":   (*rand.Rand).Float64,
		"wide":      func(r *rand.Rand) float64 { return math.Exp(20 * r.NormFloat64()) },
		"narrow":    func(r *rand.Rand) float64 { return 1e12 + r.Float64() },
		"two rings": func(r *rand.Rand) float64 { return float64(r.IntN(2))*1e6 + r.Float64() },
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 1))
			for _, perplexity := range []float64{1.5, 5, 30, 60, 89} {
				p := make([]float64, 90)
				for j := range p {
					p[j] = draw(r)
				}
				calibrate(p, math.Log(perplexity))
				h, sum := 0.0, 0.0
				for _, v := range p {
					if sum += v; v > 0 {
						h -= v * math.Log(v)
					}
				}
				if math.Abs(math.Exp(h)-perplexity) > 1e-6*perplexity || math.Abs(sum-1) > 1e-12 {
					t.Errorf("perplexity %v, sum %v; want %v and 1", math.Exp(h), sum, perplexity)
				}
			}
		})
	}
}

// TestCalibrationWithoutSolution has more equal nearest neighbours than the perplexity.
func TestCalibrationWithoutSolution(t *testing.T) {
	for _, c := range [][2][]float64{
		{{5, 5, 5, 5}, {0.25, 0.25, 0.25, 0.25}},
		{{0, 7, 0, 0, 9}, {1. / 3, 0, 1. / 3, 1. / 3, 0}},
	} {
		p, want := slices.Clone(c[0]), c[1]
		calibrate(p, math.Log(2))
		if !floats.EqualApprox(p, want, 1e-9) {
			t.Errorf("squared distances %v give %v; want %v", c[0], p, want)
		}
	}
}

func TestAffinities(t *testing.T) {
	x, _ := clusters(4, 30, 6, 3, 1)
	x[7] = x[3] // a duplicate
	p, sum := affinitiesOf(t, x, 10), 0.0
	for i := range p {
		for j := range p {
			sum += p[i][j]
			if p[i][j] != p[j][i] || p[i][j] < 0 {
				t.Fatalf("p[%d][%d] = %v, p[%d][%d] = %v", i, j, p[i][j], j, i, p[j][i])
			}
		}
		if p[i][i] != 0 {
			t.Errorf("p[%d][%d] = %v", i, i, p[i][i])
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("ΣP = %v", sum)
	}
}
