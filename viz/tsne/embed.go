package tsne

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/parallelcl/parallelcl/internal/seed"
)

// Options are the settings of an embedding. The zero value is ready to use.
type Options struct {
	Perplexity float64 // effective number of neighbours; 0 for 30, at most a third of the other points
	Iterations int     // 0 for 1000
	Seed       uint64
	// Progress, if not nil, is called every 50 iterations and after the last one, with the number
	// of iterations done and KL(P‖Q) in nats, before the last update.
	Progress func(iteration int, kl float64)
}

// Embed places the rows of x in the plane, with mean 0. The same rows and options give the same
// bits on any number of processors. The order of the rows and the scale of x change the rounding
// and the noise, and with them the picture. When ctx ends, Embed returns its error.
func Embed(ctx context.Context, x [][]float64, o Options) ([][2]float64, error) {
	o.Perplexity, o.Iterations = cmp.Or(o.Perplexity, 30), cmp.Or(o.Iterations, 1000)
	if n := len(x); !(o.Perplexity > 1 && 3*o.Perplexity <= float64(n-1)) {
		return nil, fmt.Errorf("tsne: perplexity %v for %d points; want more than 1, and at most %.4g: a third of the "+
			"other points", o.Perplexity, n, float64(n-1)/3)
	}
	if err := check(x); err != nil {
		return nil, err
	}
	p, err := affinities(ctx, x, o.Perplexity)
	if err != nil {
		return nil, err
	}
	y := start(x, o.Seed)
	descend(ctx, p, y, o)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return y, nil
}

// check returns an error for points that cannot be embedded.
func check(x [][]float64) error {
	apart := 0.0 // from the first point
	for i, row := range x {
		if len(row) != len(x[0]) {
			return fmt.Errorf("tsne: row %d has %d numbers and row 0 has %d; want rows of one length", i, len(row), len(x[0]))
		}
		for j, v := range row {
			if !(math.Abs(v) < 1e100) { // whose square is finite
				return fmt.Errorf("tsne: x[%d][%d] is %v; want finite numbers below 1e100", i, j, v)
			}
		}
		apart = max(apart, floats.Distance(row, x[0], math.Inf(1)))
	}
	if apart < 1e-100 {
		return errors.New("tsne: every row is the same point; there is nothing to embed")
	}
	return nil
}

// startSize is the standard deviation of the first coordinate at the start, small next to the
// unit width of w, so that all points begin as neighbours.
const startSize = 1e-4

// start returns the first positions: the first two principal components, with a hundredth of noise,
// without which points that coincide, or lie on a line, would do so for ever.
func start(x [][]float64, from uint64) [][2]float64 {
	n, d := len(x), len(x[0])
	points := mat.NewDense(n, d, nil)
	for i, row := range x {
		points.SetRow(i, row)
	}
	var pc stat.PC
	pc.PrincipalComponents(points, nil) // which finite numbers have
	var vectors, scores mat.Dense
	pc.VectorsTo(&vectors)
	scores.Mul(points, &vectors)
	scale := startSize / math.Sqrt(pc.VarsTo(nil)[0])
	y, noise := make([][2]float64, n), seed.New(from, "t-SNE start")
	for i := range y {
		for a := range y[i] {
			if y[i][a] = 0.01 * startSize * noise.NormFloat64(); a < min(n, d) {
				y[i][a] += scale * scores.At(i, a)
			}
		}
	}
	centre(y)
	return y
}

func centre(y [][2]float64) {
	for a := range 2 {
		mean := 0.0
		for i := range y {
			mean += y[i][a] / float64(len(y))
		}
		for i := range y {
			y[i][a] -= mean
		}
	}
}
