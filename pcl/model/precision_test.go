package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// TestBFloat16 compares the MLP's loss, gradient and tangent in mixed precision with those in full:
// near, but not the same.
func TestBFloat16(t *testing.T) {
	p := newProblem(t)
	v := pcltest.Normal(rand.New(rand.NewPCG(5, 5)), len(p.theta))
	all := func() [][]float64 {
		return p.run(t, p.theta, p.x, v, func(loss, _ Dual, theta []*graph.Node, x *graph.Node) []*graph.Node {
			return []*graph.Node{loss.Value, loss.Tangent, join(graph.Gradient(loss.Value, theta...)),
				graph.Gradient(loss.Tangent, x)[0]}
		})
	}
	want := all()
	p.net = BFloat16(p.net)
	if key := p.net.Key(); key != "mlp-6-[7 4]-5-bf16" {
		t.Errorf("the key is %s", key)
	}
	for i, got := range all() {
		near(t, []string{"loss", "tangent", "gradient", "pixel gradient"}[i], got, want[i], 0.03)
	}
}

// TestBFloat16Convolution does so with a convolution, on the backend that compiles it.
func TestBFloat16Convolution(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	in := []tensor{floats(pcltest.Normal(r, 2*8*8*3), 2, 8, 8, 3), floats(pcltest.Normal(r, 3*3*3*4), 3, 3, 3, 4),
		floats(pcltest.Normal(r, 2*8*8*4), 2, 8, 8, 4)}
	eval := func(p Pass) [][]float64 {
		return compile(t, pcltest.Backend(t, backend.XLACPU), func(n []*graph.Node) []*graph.Node {
			p.Params = []Dual{{Value: n[1]}}
			y := convolution{weights: 0, bias: -1, stride: 1}.apply(p, Dual{Value: n[0]}).Value
			return append([]*graph.Node{y}, graph.Gradient(graph.ReduceAllSum(graph.Mul(y, n[2])), n[0], n[1])...)
		})(in)
	}
	want := eval(Pass{})
	for i, got := range eval(Pass{bfloat16: true}) {
		near(t, []string{"output", "gradient of the image", "gradient of the kernel"}[i], got, want[i], 0.01)
	}
}

// near wants ‖got − want‖ to lie between rounding of float32 and a share of ‖want‖.
func near(t *testing.T, what string, got, want []float64, share float64) {
	t.Helper()
	d := moved(got, -1, want)
	if r := math.Sqrt(dot(d, d) / dot(want, want)); !(r > 1e-5 && r < share) {
		t.Errorf("the %s is %.3g away, of its length", what, r)
	}
}
