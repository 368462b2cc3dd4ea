package method

import (
	"math/rand/v2"
	"testing"
)

// TestPOCL: the finished tasks have MGDA's weights for their rows alone, whatever the others are,
// and the running ones equal shares of 1; one finished task is added to the current ones.
func TestPOCL(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for past := 1; past <= 5; past++ {
		for tasks := 1; tasks <= 3; tasks++ {
			z, alone := sample{}, sample{}
			for i := range past + tasks {
				row := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
				if z.rows = append(z.rows, row); i < past {
					alone.rows = append(alone.rows, row)
				}
			}
			s := z.step(1)
			for i := range s.IDs {
				if s.IDs[i] = -1 - i; i >= past {
					s.IDs[i] = 20 + i
				}
			}
			want := weigh(t, build(t, "mgda", nil), alone.step(1))
			for range tasks {
				want = append(want, 1/float64(tasks))
			}
			wants(t, weigh(t, build(t, "pocl", nil), s), want, 1e-12, "%d finished and %d running tasks", past, tasks)
		}
	}
	s := sample{rows: [][]float64{{-4, 1, 1}, {6, 1, 1}, {1, 0, 0}}}.step(1)
	s.IDs = []int{-1, -2, 7}
	wants(t, weigh(t, build(t, "pocl", nil), s), []float64{.6, .4, 1}, 1e-12, "two finished tasks that conflict")
}
