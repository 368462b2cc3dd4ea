package emgd

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchmarkProblem has K gradients with a common part, as in training: most rows are active.
func benchmarkProblem(k int) (gram, sigma []float64) {
	r := rand.New(rand.NewPCG(uint64(k), 1))
	rows := gaussian(r, k, 50)
	sigma = make([]float64, k)
	for i := range rows {
		sigma[i] = (0.5 + r.Float64()) / float64(k)
		f := 0.5 + r.Float64()
		for p := range rows[i] {
			rows[i][p] = f * (rows[i][p] + 0.3)
		}
	}
	return gramOf(rows), sigma
}

func BenchmarkSolve(b *testing.B) {
	for _, k := range []int{1, 2, 5, 10, 20, 32} {
		gram, sigma := benchmarkProblem(k)
		p := of(gram)
		for _, floor := range []float64{0, 1 / float64(k+1)} {
			name := fmt.Sprintf("K=%d", k)
			if floor > 0 {
				name += "/floor"
			}
			b.Run(name, func(b *testing.B) {
				s := Solver{Floor: floor}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := s.Solve(p, sigma); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(s.cert.Active)), "active")
			})
		}
	}
}
