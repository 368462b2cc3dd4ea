package tsne

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// points are the rows of x, centred and scaled by a power of two so that no square overflows or
// underflows: t-SNE does not see the scale.
type points struct {
	rows  [][]float64
	norm2 []float64
}

func newPoints(x [][]float64) (*points, error) {
	if len(x) == 0 || len(x[0]) == 0 {
		return nil, errors.New("tsne: no data: want n rows of at least one number")
	}
	top := 0.0
	for i, row := range x {
		if len(row) != len(x[0]) {
			return nil, fmt.Errorf("tsne: row %d has %d numbers and row 0 has %d; want rows of one length", i, len(row), len(x[0]))
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("tsne: x[%d][%d] is %v; want finite numbers", i, j, v)
			}
			top = max(top, math.Abs(v))
		}
	}
	p := &points{norm2: make([]float64, len(x))}
	for _, row := range x {
		p.rows = append(p.rows, append([]float64(nil), row...))
	}
	p.scale(top)
	if top = p.centre(); top == 0 {
		return nil, errors.New("tsne: every row is the same point; there is nothing to embed")
	}
	p.scale(top)
	for i, row := range p.rows {
		p.norm2[i] = floats.Dot(row, row)
	}
	return p, nil
}

// scale brings the largest absolute value, top, into [½, 1).
func (p *points) scale(top float64) {
	_, exponent := math.Frexp(top)
	for _, row := range p.rows {
		for j := range row {
			row[j] = math.Ldexp(row[j], -exponent)
		}
	}
}

// centre subtracts the mean and returns the largest absolute value left.
func (p *points) centre() (top float64) {
	mean := make([]float64, len(p.rows[0]))
	for _, row := range p.rows {
		// Differences to the first row: the mean of equal rows is then that row, without rounding.
		for j, v := range row {
			mean[j] += (v - p.rows[0][j]) / float64(len(p.rows))
		}
	}
	floats.Add(mean, p.rows[0])
	for _, row := range p.rows {
		floats.Sub(row, mean)
		top = max(top, floats.Norm(row, math.Inf(1)))
	}
	return top
}

// cancelled is the share of ‖a‖² + ‖b‖² below which ‖a‖² + ‖b‖² − 2ab has lost too many digits.
const cancelled = 1e-6

// distance2 returns ‖x_i − x_j‖², 0 for equal rows.
func (p *points) distance2(i, j int) float64 {
	sum := p.norm2[i] + p.norm2[j]
	d2 := sum - 2*floats.Dot(p.rows[i], p.rows[j])
	if d2 > cancelled*sum {
		return d2
	}
	d2 = 0
	for k, v := range p.rows[i] {
		d := v - p.rows[j][k]
		d2 += d * d
	}
	return d2
}

// tile is the number of rows whose distances are computed together, so that x is read n/tile times.
const tile = 16

// distances calls f with each i and the n squared distances from x_i, on several goroutines. The
// distances are f's until it returns.
func (p *points) distances(ctx context.Context, f func(i int, d2 []float64)) error {
	n := len(p.rows)
	return parallel(ctx, n, tile, func(lo, hi int) {
		d2 := make([]float64, (hi-lo)*n)
		for j := range n {
			for i := lo; i < hi; i++ {
				d2[(i-lo)*n+j] = p.distance2(i, j)
			}
		}
		for i := lo; i < hi; i++ {
			f(i, d2[(i-lo)*n:(i-lo+1)*n])
		}
	})
}
