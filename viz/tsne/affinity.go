package tsne

import (
	"context"
	"math"
	"slices"
)

// row holds the entries of one row of P that are kept: p_ij at j = at[·].
type row struct {
	at []int32
	p  []float64
}

// affinities returns P for the k nearest neighbours of each point; k = n−1 gives all of P.
func affinities(ctx context.Context, x *points, perplexity float64, k int) ([]row, error) {
	rows := make([]row, len(x.rows))
	err := x.distances(ctx, func(i int, d2 []float64) {
		at := nearest(d2, i, k)
		p := make([]float64, k)
		for e, j := range at {
			p[e] = d2[j]
		}
		calibrate(p, math.Log(perplexity))
		rows[i] = row{at, p}
	})
	if err != nil {
		return nil, err
	}
	symmetrise(rows, k)
	return rows, nil
}

// nearest returns the k points nearest to i in ascending order of index; of equally near ones those
// of lower index.
func nearest(d2 []float64, i, k int) []int32 {
	at := make([]int32, 0, k)
	if k == len(d2)-1 {
		for j := range d2 {
			if j != i {
				at = append(at, int32(j))
			}
		}
		return at
	}
	for j, d := range d2 {
		if j == i || len(at) == k && d >= d2[at[k-1]] {
			continue
		}
		if len(at) == k {
			at = at[:k-1]
		}
		place, _ := slices.BinarySearchFunc(at, d, func(a int32, d float64) int {
			if d2[a] <= d {
				return -1
			}
			return 1
		})
		at = slices.Insert(at, place, int32(j))
	}
	slices.Sort(at)
	return at
}

// calibrate replaces the squared distances d2 of a point's neighbours by p_j|i = exp(−β d2_j)/S with
// the β that gives them the entropy H(β) = entropy, in nats. Where no β does (more equal nearest
// neighbours than the perplexity), these share the probability equally.
func calibrate(d2 []float64, entropy float64) {
	low := slices.Min(d2)
	scale := 0.0
	for j := range d2 {
		d2[j] -= low
		scale += d2[j] / float64(len(d2))
	}
	if scale == 0 {
		scale = 1
	}
	beta, below, above := 1/scale, 0.0, math.Inf(1)
	for range 200 {
		h, slope := entropyAt(d2, beta)
		if math.Abs(h-entropy) < 1e-10 || slope == 0 {
			break
		}
		if h > entropy {
			below = beta
		} else {
			above = beta
		}
		// Newton in log β, kept inside the bracket and to factors of at most 10.
		beta *= math.Exp(min(max((h-entropy)/slope, -2.3), 2.3))
		if beta <= below || beta >= above {
			if math.IsInf(above, 1) {
				beta = 2 * below
			} else {
				beta = (below + above) / 2
			}
		}
	}
	sum := 0.0
	for j, d := range d2 {
		d2[j] = math.Exp(-beta * d)
		sum += d2[j]
	}
	for j := range d2 {
		d2[j] /= sum
	}
}

// entropyAt returns H(β) and −dH/d log β = β² Var(d2), for distances from 0 up.
func entropyAt(d2 []float64, beta float64) (h, slope float64) {
	var s, first, second float64
	for _, d := range d2 {
		e := math.Exp(-beta * d)
		s += e
		first += e * d
		second += e * d * d
	}
	mean := first / s
	return math.Log(s) + beta*mean, beta * beta * max(second/s-mean*mean, 0)
}

// symmetrise turns p_j|i, k in each row by ascending j, into p_ij = (p_j|i + p_i|j)/2n. Rows get
// the entries that only the other point had.
func symmetrise(rows []row, k int) {
	half := 1 / (2 * float64(len(rows)))
	for i := range rows {
		for e, j := range rows[i].at[:k] {
			other := &rows[j]
			twin, found := slices.BinarySearch(other.at[:k], int32(i))
			switch {
			case !found:
				rows[i].p[e] *= half
				other.at, other.p = append(other.at, int32(i)), append(other.p, rows[i].p[e])
			case int(j) > i:
				both := (rows[i].p[e] + other.p[twin]) * half
				rows[i].p[e], other.p[twin] = both, both
			}
		}
	}
}
