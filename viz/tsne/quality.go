package tsne

import (
	"cmp"
	"context"
	"fmt"
	"math"
)

// KL returns KL(P‖Q) in nats of any embedding y of x, with the exact P and Q: two embeddings of the
// same points can be compared by it. A perplexity of 0 is 30. Memory is O(n²).
func KL(x [][]float64, y [][2]float64, perplexity float64) (float64, error) {
	perplexity = cmp.Or(perplexity, defaultPerplexity)
	if err := checkPerplexity(perplexity, len(x)); err != nil {
		return 0, err
	}
	points, err := newPair(x, y)
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	p, err := affinities(ctx, points, perplexity, len(x)-1)
	if err != nil {
		return 0, err
	}
	z, err := exactZ(ctx, y)
	if err != nil {
		return 0, err
	}
	return newObjective(p, 0).kl(ctx, y, z)
}

// Trustworthiness returns how far the k nearest neighbours in y are neighbours in x (Venna and
// Kaski, ICANN 2001): 1 − 2/(nk(2n−3k−1)) Σ_i Σ_j max(r(i,j) − k, 0) over the k nearest j in y, where
// x_j is the r-th nearest to x_i. It is 1 if none is new, about ½ for a random y. It needs k < n/2.
func Trustworthiness(x [][]float64, y [][2]float64, k int) (float64, error) {
	points, err := newPair(x, y)
	if err != nil {
		return 0, err
	}
	n := len(x)
	if k < 1 || 2*k >= n {
		return 0, fmt.Errorf("tsne: trustworthiness for %d neighbours of %d points; want at least 1 and fewer than half the points", k, n)
	}
	excess := make([]int, n)
	err = points.distances(context.Background(), func(i int, d2 []float64) {
		flat := make([]float64, n)
		for j := range y {
			flat[j] = math.Hypot(y[i][0]-y[j][0], y[i][1]-y[j][1])
		}
		for _, j := range nearest(flat, i, k) {
			excess[i] += max(rank(d2, i, int(j))-k, 0)
		}
	})
	sum := 0.0
	for _, e := range excess {
		sum += float64(e)
	}
	return 1 - 2*sum/(float64(n*k)*float64(2*n-3*k-1)), err
}

// rank returns r where j is the r-th nearest to i; of equally near ones the lower index comes first.
func rank(d2 []float64, i, j int) int {
	r := 1
	for other, d := range d2 {
		if other != i && (d < d2[j] || d == d2[j] && other < j) {
			r++
		}
	}
	return r
}

// newPair checks that y is a finite embedding of x.
func newPair(x [][]float64, y [][2]float64) (*points, error) {
	if len(x) != len(y) {
		return nil, fmt.Errorf("tsne: %d rows of x and %d positions; want one position for each row", len(x), len(y))
	}
	for i, p := range y {
		if size := math.Hypot(p[0], p[1]); math.IsNaN(size) || math.IsInf(size, 0) {
			return nil, fmt.Errorf("tsne: position %d is %v; want finite numbers", i, p)
		}
	}
	return newPoints(x)
}
