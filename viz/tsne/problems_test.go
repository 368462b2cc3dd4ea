package tsne

import (
	"math"
	"math/rand/v2"
	"testing"
)

// clusters returns count Gaussian clusters of size points each in d dimensions, of unit spread and
// apart from each other by about distance, and the cluster of each point.
func clusters(count, size, d int, distance float64, seed uint64) (x [][]float64, label []int) {
	r := rand.New(rand.NewPCG(seed, 3))
	for c := range count {
		centre := gaussian(r, 1, d)[0]
		for _, row := range gaussian(r, size, d) {
			for j := range row {
				row[j] += distance * centre[j]
			}
			x, label = append(x, row), append(label, c)
		}
	}
	return x, label
}

func gaussian(r *rand.Rand, n, d int) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, d)
		for j := range x[i] {
			x[i][j] = r.NormFloat64()
		}
	}
	return x
}

// plane returns n positions of standard deviation size.
func plane(n int, size float64, seed uint64) [][2]float64 {
	r := rand.New(rand.NewPCG(seed, 5))
	y := make([][2]float64, n)
	for i := range y {
		y[i] = [2]float64{size * r.NormFloat64(), size * r.NormFloat64()}
	}
	return y
}

// affinitiesOf returns P.
func affinitiesOf(t testing.TB, x [][]float64, perplexity float64) [][]float64 {
	t.Helper()
	p, err := affinities(t.Context(), x, perplexity)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func embed(t testing.TB, x [][]float64, o Options) [][2]float64 {
	t.Helper()
	result, err := Embed(t.Context(), x, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// strangers counts the points whose nearest neighbour in y is of another cluster.
func strangers(y [][2]float64, label []int) (count int) {
	for i := range y {
		best, at := 0.0, -1
		for j := range y {
			dx, dy := y[i][0]-y[j][0], y[i][1]-y[j][1]
			if d := dx*dx + dy*dy; j != i && (at < 0 || d < best) {
				best, at = d, j
			}
		}
		if label[i] != label[at] {
			count++
		}
	}
	return count
}

func norm(v [][2]float64) float64 {
	sum := 0.0
	for _, p := range v {
		sum += p[0]*p[0] + p[1]*p[1]
	}
	return math.Sqrt(sum)
}
