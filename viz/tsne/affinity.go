package tsne

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// affinities returns P, row by row.
func affinities(ctx context.Context, x [][]float64, perplexity float64) ([][]float64, error) {
	n := len(x)
	conditional, p := make([][]float64, n), make([][]float64, n)
	parallel(ctx, n, func(i int) {
		var d2 []float64 // to the other points
		for j := range x {
			if j != i {
				d := floats.Distance(x[i], x[j], 2)
				d2 = append(d2, d*d)
			}
		}
		calibrate(d2, math.Log(perplexity))
		conditional[i] = slices.Insert(d2, i, 0)
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for i := range p {
		p[i] = make([]float64, n)
		for j := range p[i] {
			p[i][j] = (conditional[i][j] + conditional[j][i]) / float64(2*n)
		}
	}
	return p, nil
}

// calibrate replaces the squared distances d2 of a point's neighbours by p_j|i = exp(−β d2_j)/S
// with the β that gives them the entropy H(β) = entropy, in nats. Where no β does (more equal
// nearest neighbours than the perplexity), these share the probability equally.
func calibrate(d2 []float64, entropy float64) {
	floats.AddConst(-slices.Min(d2), d2)
	beta, below, above := 1.0, 0.0, math.Inf(1)
	if mean := floats.Sum(d2) / float64(len(d2)); mean > 0 {
		beta = 1 / mean
	}
	for range 200 { // H falls as β grows
		h := entropyAt(d2, beta)
		if math.Abs(h-entropy) < 1e-10 {
			break
		}
		if h > entropy {
			below = beta
		} else {
			above = beta
		}
		beta = (below + above) / 2
		if math.IsInf(above, 1) {
			beta = 2 * below
		}
	}
	for j, d := range d2 {
		d2[j] = math.Exp(-beta * d)
	}
	floats.Scale(1/floats.Sum(d2), d2)
}

// entropyAt returns H(β), for distances from 0 up.
func entropyAt(d2 []float64, beta float64) float64 {
	var s, first float64
	for _, d := range d2 {
		e := math.Exp(-beta * d)
		s += e
		first += e * d
	}
	return math.Log(s) + beta*first/s
}
