package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
)

// problem is a small MLP and a batch of which the last sample is padding.
type problem struct {
	net      Model
	theta, x []float64
	targets  []tensor // label, lo, hi, weight
}

const batch = 5

func newProblem(t testing.TB) *problem {
	t.Helper()
	net := must.Get(NewMLP(6, []int{7, 4}, 5))(t)
	r := rand.New(rand.NewPCG(2, 3))
	return &problem{
		net: net, theta: pcltest.Normal(r, net.Layout().Total), x: pcltest.Normal(r, batch*6),
		targets: []tensor{ints(0, 3, 4, 2, 0), ints(0, 2, 0, 2, 0), ints(2, 5, 5, 3, 1),
			floats([]float64{.25, .25, .3, .2, 0}, batch)},
	}
}

// run gives build the dual loss along v, the logits, and the nodes of θ's parts and of x.
func (p *problem) run(t testing.TB, theta, x, v []float64,
	build func(loss, logits Dual, theta []*graph.Node, x *graph.Node) []*graph.Node) [][]float64 {
	t.Helper()
	in := append([]tensor{floats(theta, len(theta)), floats(x, batch, 6), floats(v, len(v))}, p.targets...)
	return run(t, in, func(n []*graph.Node) []*graph.Node {
		layout := p.net.Layout()
		parts := split(n[0], layout.Params)
		logits := p.net.Forward(Pass{Params: duals(parts, split(n[2], layout.Params)...), X: Dual{Value: n[1]}}).Logits
		return build(meanEntropy(logits, targetsOf(n[3:])), logits, parts, n[1])
	})
}

// reference is the loss and the logits in plain Go.
func (p *problem) reference(theta, x []float64) (loss float64, logits []float64) {
	label, lo, hi, weight := p.targets[0].flat.([]int32), p.targets[1].flat.([]int32), p.targets[2].flat.([]int32),
		p.targets[3].flat.([]float64)
	for b := range batch {
		h := x[6*b : 6*b+6]
		for i, params := 0, p.net.Layout().Params; i < len(params); i += 2 {
			w, bias := theta[params[i].Offset:], theta[params[i+1].Offset:]
			next := make([]float64, params[i].Dims[1])
			for o := range next {
				next[o] = bias[o]
				for k, v := range h {
					next[o] += v * w[k*len(next)+o]
				}
				if i+2 < len(params) {
					next[o] = max(next[o], 0)
				}
			}
			h = next
		}
		total := 0.0
		for _, z := range h[lo[b]:hi[b]] {
			total += math.Exp(z)
		}
		loss += weight[b] * (math.Log(total) - h[label[b]])
		logits = append(logits, h...)
	}
	return loss, logits
}

func TestForwardAndLoss(t *testing.T) {
	p := newProblem(t)
	got := p.run(t, p.theta, p.x, p.theta, func(loss, logits Dual, _ []*graph.Node, _ *graph.Node) []*graph.Node {
		return []*graph.Node{loss.Value, logits.Value}
	})
	loss, logits := p.reference(p.theta, p.x)
	pcltest.Within(t, "loss", 1e-12, got[0], loss)
	pcltest.Within(t, "logits", 1e-12, got[1], logits...)
}

// TestEditOracle is the worked example of docs/method.md §9: a linear softmax, φ = ‖∇θℓ(x) − D‖².
func TestEditOracle(t *testing.T) {
	in := []tensor{
		floats([]float64{.3, .1, -.5, -.2, .4, .2}, 2, 3), // Wᵀ
		floats([]float64{.05, -.1, .05, 0, .02, -.02}, 2, 3),
		floats([]float64{.6, -.4}, 1, 2), floats(make([]float64, 3), 3),
		ints(1), ints(0), ints(3), floats([]float64{1}, 1),
	}
	got := run(t, in, func(n []*graph.Node) []*graph.Node {
		x, bias, targets := Dual{Value: n[2]}, Dual{Value: n[3]}, targetsOf(n[4:])
		loss := meanEntropy(Pass{}.Dense(x, Dual{Value: n[0]}, bias), targets).Value
		v := graph.StopGradient(graph.Sub(graph.Gradient(loss, n[0])[0], n[1]))
		along := meanEntropy(Pass{}.Dense(x, Dual{Value: n[0], Tangent: v}, bias), targets).Tangent
		return []*graph.Node{graph.ReduceAllSum(graph.Mul(v, v)), graph.Gradient(graph.MulScalar(along, 2), n[2])[0]}
	})
	pcltest.Within(t, "φ", 1e-8, got[0], .25673164)
	pcltest.Within(t, "∇φ", 1e-8, got[1], .68389158, -.65108124)
}
