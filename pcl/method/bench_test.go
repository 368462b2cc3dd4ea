package method

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkWeights times what each method does on the host in a step, the gradients' inner products
// excepted: K rows, the first of them the memory's. Methods that read the rows get 10,000 columns.
func BenchmarkWeights(b *testing.B) {
	for _, name := range Names() {
		for _, k := range []int{2, 5, 20} {
			b.Run(fmt.Sprintf("%s/K=%d", name, k), func(b *testing.B) {
				m, columns := build(b, name, nil), 3*k
				if m.Needs().Rows {
					columns = 10000
				}
				r := rand.New(rand.NewPCG(uint64(k), 1))
				z := sample{rows: gaussian(r, k, columns)}
				for range k {
					z.losses = append(z.losses, 0.1+r.ExpFloat64())
				}
				s, w := z.step(1), make([]float64, k)
				for b.Loop() {
					if _, err := m.Weights(s, w); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs")
			})
		}
	}
}
