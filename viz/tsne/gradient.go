package tsne

import (
	"context"
	"math"
)

// objective is C = KL(P‖Q) and its gradient for one P.
type objective struct {
	p     []row
	theta float64
	tree  tree
	pull  [][2]float64 // Σ_j p_ij w_ij (y_i − y_j)
	repel [][2]float64 // Σ_j w_ij² (y_i − y_j)
	z     []float64    // Σ_j w_ij
}

func newObjective(p []row, theta float64) *objective {
	n := len(p)
	return &objective{p: p, theta: theta, pull: make([][2]float64, n), repel: make([][2]float64, n), z: make([]float64, n)}
}

// chunk is the number of points whose forces one goroutine computes at a time.
const chunk = 64

// gradient fills g with ∂C/∂y, P multiplied by exaggeration, and returns Z.
func (o *objective) gradient(ctx context.Context, y, g [][2]float64, exaggeration float64) (z float64, err error) {
	o.tree.build(y)
	err = parallel(ctx, len(y), chunk, func(lo, hi int) {
		for place := lo; place < hi; place++ {
			i := o.tree.order[place] // in the tree's order a goroutine walks the same cells again
			o.pull[i] = o.p[i].pull(y, int(i))
			o.repel[i], o.z[i] = o.tree.sums(int32(place), o.theta*o.theta)
		}
	})
	if err != nil {
		return 0, err
	}
	for _, v := range o.z {
		z += v
	}
	for i := range g {
		for a := range g[i] {
			g[i][a] = 4 * (exaggeration*o.pull[i][a] - o.repel[i][a]/z)
		}
	}
	return z, nil
}

// pull returns Σ p_ij w_ij (y_i − y_j).
func (r row) pull(y [][2]float64, i int) [2]float64 {
	var fx, fy float64 // scalars stay in registers, arrays do not
	x0, y0 := y[i][0], y[i][1]
	for e, j := range r.at {
		dx, dy := x0-y[j][0], y0-y[j][1]
		w := r.p[e] / (1 + dx*dx + dy*dy)
		fx += w * dx
		fy += w * dy
	}
	return [2]float64{fx, fy}
}

// kl returns Σ p_ij log(p_ij Z/w_ij) for a Z.
func (o *objective) kl(ctx context.Context, y [][2]float64, z float64) (float64, error) {
	terms := make([]float64, len(y))
	logZ := math.Log(z)
	err := parallel(ctx, len(y), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for e, j := range o.p[i].at {
				if p := o.p[i].p[e]; p > 0 {
					dx, dy := y[i][0]-y[j][0], y[i][1]-y[j][1]
					terms[i] += p * (math.Log(p*(1+dx*dx+dy*dy)) + logZ)
				}
			}
		}
	})
	sum := 0.0
	for _, t := range terms {
		sum += t
	}
	return sum, err
}

// exactZ returns Σ w_ij over all i ≠ j.
func exactZ(ctx context.Context, y [][2]float64) (float64, error) {
	z := make([]float64, len(y))
	err := parallel(ctx, len(y), chunk, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range y {
				if j != i {
					dx, dy := y[i][0]-y[j][0], y[i][1]-y[j][1]
					z[i] += 1 / (1 + dx*dx + dy*dy)
				}
			}
		}
	})
	sum := 0.0
	for _, v := range z {
		sum += v
	}
	return sum, err
}
