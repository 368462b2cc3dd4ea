package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// TestBatchNorm compares with the definition, on a batch [5,2,2,3] of which the fourth sample is
// padding and holds huge values.
func TestBatchNorm(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	x, weight := pcltest.Normal(r, 5*4*3), []float64{.25, .25, .25, 0, .25}
	for i := 36; i < 48; i++ {
		x[i] *= 1e6
	}
	scale, shift := pcltest.Normal(r, 3), pcltest.Normal(r, 3)
	norm := func(p Pass, stats, n []*graph.Node) *graph.Node {
		p.Params = []Dual{{Value: n[2]}, {Value: n[3]}}
		return batchNorm{scale: 0, shift: 1, mean: 0, variance: 1}.apply(p, stats, Dual{Value: n[0]}).Value
	}
	in := []tensor{floats(x, 5, 2, 2, 3), floats(weight, 5), floats(scale, 3), floats(shift, 3)}
	got := run(t, in, func(n []*graph.Node) []*graph.Node {
		stats := make([]*graph.Node, 2)
		y := norm(Pass{Weight: n[1]}, stats, n)
		return append(stats, y, norm(Pass{Running: stats}, nil, n))
	})
	for c := range 3 {
		mean, variance := 0.0, 0.0
		for i := c; i < len(x); i += 3 {
			mean += weight[i/12] / 4 * x[i]
		}
		for i := c; i < len(x); i += 3 {
			variance += weight[i/12] / 4 * (x[i] - mean) * (x[i] - mean)
		}
		if math.Abs(got[0][c]-mean) > 1e-12 || math.Abs(got[1][c]-variance) > 1e-12 {
			t.Errorf("channel %d: mean %g, variance %g; want %g, %g", c, got[0][c], got[1][c], mean, variance)
		}
		for i := c; i < len(x); i += 3 {
			want := scale[c]*(x[i]-mean)/math.Sqrt(variance+1e-5) + shift[c]
			for way, y := range [][]float64{got[2], got[3]} {
				if math.Abs(y[i]-want) > 1e-12*(1+math.Abs(want)) {
					t.Fatalf("entry %d is %g by %s statistics, want %g", i, y[i], []string{"the batch's", "running"}[way], want)
				}
			}
		}
	}
}
