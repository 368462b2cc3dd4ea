package device

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// none is the reference value of an output that has none.
const none = rehearsal.NoReference

// TestLossesDerivatives compares, of every loss and kind of scores y(x) and a weight c of its
// outputs, the tangent ẏ, which comes in by each input, and the gradients of ⟨c,y⟩ and of ⟨c,ẏ⟩
// with central differences.
func TestLossesDerivatives(t *testing.T) {
	label := func(n *graph.Node) *graph.Node { return graph.Const(n.Graph(), []int32{1, 0, 3}) }
	to := func(n *graph.Node) goals {
		return goals{Label: label(n), Lo: graph.Const(n.Graph(), []int32{0, 0, 2}),
			Hi: graph.Const(n.Graph(), []int32{4, 2, 4})}
	}
	reference := func(n *graph.Node) *graph.Node {
		return graph.Const(n.Graph(), [][]float64{{.3, none, -1, none}, {none, none, none, none}, {1, 2, .5, -.5}})
	}
	scores, logits := [][2]int{{3, 5}, {5, 4}}, [][2]int{{3, 4}}
	for name, l := range map[string]struct {
		dims  [][2]int
		apply func(n []model.Dual) model.Dual
	}{
		"cosines":           {scores, func(n []model.Dual) model.Dual { return cosines(n[0], n[1], false) }},
		"cosines frobenius": {scores, func(n []model.Dual) model.Dual { return cosines(n[0], n[1], true) }},
		"margins": {scores, func(n []model.Dual) model.Dual {
			g := n[0].Value.Graph()
			m := margins{Class: .3, Task: .2, TaskLo: graph.Const(g, []int32{0, 0, 2}), TaskHi: graph.Const(g, []int32{2, 2, 4})}
			return scaled(withMargins(cosines(n[0], n[1], false), label(n[0].Value), m), 3)
		}},
		"cross-entropies": {logits, func(n []model.Dual) model.Dual { return crossEntropies(n[0], to(n[0].Value)) }},
		"squared differences": {logits, func(n []model.Dual) model.Dual {
			return squaredDifferences(n[0], reference(n[0].Value))
		}},
		"soft cross-entropies": {logits, func(n []model.Dual) model.Dual {
			return softCrossEntropies(n[0], reference(n[0].Value), 2)
		}},
		"sigmoid cross-entropies": {logits, func(n []model.Dual) model.Dual {
			return sigmoidCrossEntropies(n[0], to(n[0].Value), reference(n[0].Value))
		}},
	} {
		t.Run(name, func(t *testing.T) { checkDerivatives(t, l.dims, l.apply) })
	}
}

func checkDerivatives(t *testing.T, dims [][2]int, apply func(n []model.Dual) model.Dual) {
	r, n := rand.New(rand.NewPCG(3, 7)), len(dims)
	var in [][]float64 // points, tangents, and directions to differ in
	for i := range 3 * n {
		in = append(in, pcltest.Normal(r, dims[i%n][0]*dims[i%n][1]))
	}
	eval := func(h float64, directions [][]float64) [][]float64 {
		var at []*tensors.Tensor
		for i, x := range in {
			x = slices.Clone(x)
			for p := range x {
				if i < n && directions != nil {
					x[p] += h * directions[i][p]
				}
			}
			at = append(at, floats(x, dims[i%n][:]...))
		}
		return run(t, at, func(nodes []*graph.Node) []*graph.Node {
			all := make([]model.Dual, n)
			for i := range all {
				all[i] = model.Dual{Value: nodes[i], Tangent: nodes[n+i]}
			}
			y, x := apply(all), nodes[:n]
			c := graph.Cos(graph.IotaFull(y.Value.Graph(), y.Value.Shape()))
			along := func(of *graph.Node) *graph.Node {
				total := graph.ScalarZero(of.Graph(), of.DType())
				for i, g := range graph.Gradient(of, x...) {
					total = graph.Add(total, graph.ReduceAllSum(graph.Mul(g, nodes[2*n+i])))
				}
				return total
			}
			value, tangent := graph.ReduceAllSum(graph.Mul(c, y.Value)), graph.ReduceAllSum(graph.Mul(c, y.Tangent))
			one := graph.ScalarZero(value.Graph(), value.DType())
			for i := range all {
				alone := slices.Clone(all)
				for k := range alone {
					if k != i {
						alone[k].Tangent = nil
					}
				}
				one = graph.Add(one, graph.ReduceAllSum(graph.Mul(c, apply(alone).Tangent)))
			}
			return []*graph.Node{value, tangent, one, along(value), along(tangent)}
		})
	}
	const h = 1e-5
	differ := func(out int, directions [][]float64) float64 {
		return (eval(h, directions)[out][0] - eval(-h, directions)[out][0]) / (2 * h)
	}
	got := eval(0, nil)
	pcltest.Within(t, "tangent", 1e-7, got[1], differ(0, in[n:2*n]))
	pcltest.Within(t, "sum of the tangents one by one", 1e-7, got[2], got[1]...)
	pcltest.Within(t, "gradient", 1e-7, got[3], differ(0, in[2*n:]))
	pcltest.Within(t, "gradient of the tangent", 1e-7, got[4], differ(1, in[2*n:]))
}

// TestAngularMargins: docs/method.md §9, two classes at cosines of .8 and .6, s = 20.
func TestAngularMargins(t *testing.T) {
	for _, c := range []struct {
		class, task float64
		taskHi      int32
		want        float64
	}{{0, 0, 2, .018150}, {.01, 0, 2, .020457}, {.01, .01, 2, .019697}, {.01, .01, 1, .023089}} {
		in := []*tensors.Tensor{floats([]float64{2, 0, 0}, 1, 3), floats([]float64{8, .3, 6, 0, 0, .4}, 3, 2)}
		got := run(t, in, func(n []*graph.Node) []*graph.Node {
			g := n[0].Graph()
			one := func(x int32) *graph.Node { return graph.Const(g, []int32{x}) }
			scores := withMargins(cosines(model.Dual{Value: n[0]}, model.Dual{Value: n[1]}, false), one(0),
				margins{Class: c.class, Task: c.task, TaskLo: one(0), TaskHi: one(c.taskHi)})
			loss := crossEntropies(scaled(scores, 20), goals{Label: one(0), Lo: one(0), Hi: one(2)})
			return []*graph.Node{loss.Value}
		})[0][0]
		if math.Abs(got-c.want) > 1e-6 {
			t.Errorf("margins %g and %g: loss %.6f, want %.6f", c.class, c.task, got, c.want)
		}
	}
}

// TestSoftCrossEntropies: two references of four, T = 2, by hand; none is 0; and the logits' own
// softmax leaves its entropy, with no gradient.
func TestSoftCrossEntropies(t *testing.T) {
	in := []*tensors.Tensor{floats([]float64{1, 5, -1, 3}, 1, 4), floats([]float64{none, 2, none, 4}, 1, 4),
		floats([]float64{none, none, none, none}, 1, 4)}
	out := run(t, in, func(n []*graph.Node) []*graph.Node {
		logits := model.Dual{Value: n[0]}
		same := softCrossEntropies(logits, graph.StopGradient(n[0]), 2).Value
		return []*graph.Node{
			softCrossEntropies(logits, n[1], 2).Value, softCrossEntropies(logits, n[2], 2).Value,
			graph.Gradient(graph.ReduceAllSum(same), n[0])[0],
		}
	})
	// of output 1: logits 2 and 4 become 1 and 2, and 5 and 3 become 2.5 and 1.5
	q, p := 1/(1+math.Exp(1)), 1/(1+math.Exp(-1))
	pcltest.Within(t, "losses", 1e-12, slices.Concat(out[:2]...), -q*math.Log(p)-(1-q)*math.Log(1-p), 0)
	pcltest.Within(t, "the gradient where both models agree", 1e-12, out[2], 0, 0, 0, 0)
}

// TestReferences: without any, the sigmoid loss is that of one-hot targets and squared differences
// are 0; a reference that equals the logits leaves the entropy of its sigmoid, and 0.
func TestReferences(t *testing.T) {
	z := []float64{.5, -1}
	in := []*tensors.Tensor{floats(z, 1, 2), floats([]float64{none, none}, 1, 2)}
	out := run(t, in, func(n []*graph.Node) []*graph.Node {
		g := n[0].Graph()
		one := func(x int32) *graph.Node { return graph.Const(g, []int32{x}) }
		to := goals{Label: one(1), Lo: one(0), Hi: one(2)}
		logits := model.Dual{Value: n[0]}
		return []*graph.Node{
			sigmoidCrossEntropies(logits, to, n[1]).Value, squaredDifferences(logits, n[1]).Value,
			sigmoidCrossEntropies(logits, to, n[0]).Value, squaredDifferences(logits, n[0]).Value,
		}
	})
	p := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	entropy := 0.0
	for _, x := range z {
		entropy -= p(x)*math.Log(p(x)) + (1-p(x))*math.Log(1-p(x))
	}
	pcltest.Within(t, "values", 1e-12, slices.Concat(out...), -math.Log(1-p(.5))-math.Log(p(-1)), 0, entropy, 0)
}
