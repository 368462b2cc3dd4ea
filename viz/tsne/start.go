package tsne

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// startSize is the standard deviation of the first coordinate at the start, small next to the
// unit width of w, so that all points begin as neighbours.
const startSize = 1e-4

// start returns the first positions: the first two principal components, with a hundredth of noise, without which points
// that coincide, or lie on a line, would do so for ever.
func start(x *points, from uint64) ([][2]float64, error) {
	y := make([][2]float64, len(x.rows))
	if err := principal(y, x, seed.New(from, "t-SNE PCA")); err != nil {
		return nil, err
	}
	noise := seed.New(from, "t-SNE start")
	for i := range y {
		for a := range y[i] {
			y[i][a] += 0.01 * startSize * noise.NormFloat64()
		}
	}
	return y, nil
}

// principal fills y with the first two principal components of the centred x, scaled so that the
// first has standard deviation startSize. It finds them by subspace iteration (Halko, Martinsson and
// Tropp, SIAM Review 53, 2011, algorithm 4.4): whole decompositions take too long for wide rows.
func principal(y [][2]float64, x *points, random *seed.Source) error {
	n, d := len(x.rows), len(x.rows[0])
	centred := mat.NewDense(n, d, nil)
	for i, row := range x.rows {
		centred.SetRow(i, row)
	}
	width := min(10, n, d)
	basis := mat.NewDense(d, width, nil)
	basis.Apply(func(_, _ int, _ float64) float64 { return random.NormFloat64() }, basis)
	scores, rows := mat.NewDense(n, width, nil), mat.NewDense(d, width, nil)
	for range 10 {
		scores.Mul(centred, basis)
		u, _, err := left(scores)
		if err != nil {
			return err
		}
		rows.Mul(centred.T(), u)
		if basis, _, err = left(rows); err != nil {
			return err
		}
	}
	scores.Mul(centred, basis)
	u, values, err := left(scores)
	if err != nil {
		return err
	}
	for a := range min(2, width) {
		scale := startSize * math.Sqrt(float64(n)) * values[a] / values[0]
		column := mat.Col(nil, a, u)
		if floats.Max(column) < -floats.Min(column) { // the sign of a component is arbitrary
			scale = -scale
		}
		for i, v := range column {
			y[i][a] = scale * v
		}
	}
	return nil
}

// left returns the left singular vectors and the singular values of m.
func left(m *mat.Dense) (u *mat.Dense, values []float64, err error) {
	var svd mat.SVD
	if !svd.Factorize(m, mat.SVDThin) {
		return nil, nil, errors.New("tsne: the principal components were not found")
	}
	u = new(mat.Dense)
	svd.UTo(u)
	return u, svd.Values(nil), nil
}
