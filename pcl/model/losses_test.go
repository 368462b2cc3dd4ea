package model

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
)

func init() { // the losses of other methods are held to what layers are
	label := func(n Dual) *graph.Node { return graph.Const(n.Value.Graph(), []int32{1, 0, 3}) }
	targets := func(n Dual) Targets {
		g := n.Value.Graph()
		return Targets{Label: label(n), Lo: graph.Const(g, []int32{0, 0, 2}), Hi: graph.Const(g, []int32{4, 2, 4})}
	}
	reference := func(n Dual) *graph.Node {
		return graph.Const(n.Value.Graph(), [][]float64{{.3, NoReference, -1, NoReference}, {NoReference, NoReference, NoReference, NoReference}, {1, 2, .5, -.5}})
	}
	layers["cosines"] = layer{[][]int{{3, 5}, {5, 4}}, func(n []Dual) Dual { return Cosines(n[0], n[1], false) }}
	layers["cosines frobenius"] = layer{[][]int{{3, 5}, {5, 4}}, func(n []Dual) Dual { return Cosines(n[0], n[1], true) }}
	layers["margins"] = layer{[][]int{{3, 5}, {5, 4}}, func(n []Dual) Dual {
		g := n[0].Value.Graph()
		m := Margins{Class: .3, Task: .2, TaskLo: graph.Const(g, []int32{0, 0, 2}), TaskHi: graph.Const(g, []int32{2, 2, 4})}
		return Sharpen(WithMargins(Cosines(n[0], n[1], false), label(n[0]), m), 3)
	}}
	layers["cross-entropies"] = layer{[][]int{{3, 4}}, func(n []Dual) Dual { return CrossEntropies(n[0], targets(n[0])) }}
	layers["squared differences"] = layer{[][]int{{3, 4}}, func(n []Dual) Dual { return SquaredDifferences(n[0], reference(n[0])) }}
	layers["soft cross-entropies"] = layer{[][]int{{3, 4}}, func(n []Dual) Dual { return SoftCrossEntropies(n[0], reference(n[0]), 2) }}
	layers["sigmoid cross-entropies"] = layer{[][]int{{3, 4}}, func(n []Dual) Dual {
		return SigmoidCrossEntropies(n[0], targets(n[0]), reference(n[0]))
	}}
}

// TestAngularMargins: docs/method.md §9, two classes at cosines of .8 and .6, s = 20.
func TestAngularMargins(t *testing.T) {
	for _, c := range []struct {
		class, task float64
		taskHi      int32
		want        float64
	}{{0, 0, 2, .018150}, {.01, 0, 2, .020457}, {.01, .01, 2, .019697}, {.01, .01, 1, .023089}} {
		in := []tensor{floats([]float64{2, 0, 0}, 1, 3), floats([]float64{8, .3, 6, 0, 0, .4}, 3, 2)}
		got := run(t, in, func(n []*graph.Node) []*graph.Node {
			g := n[0].Graph()
			one := func(x int32) *graph.Node { return graph.Const(g, []int32{x}) }
			scores := WithMargins(Cosines(Dual{Value: n[0]}, Dual{Value: n[1]}, false), one(0), Margins{Class: c.class, Task: c.task, TaskLo: one(0), TaskHi: one(c.taskHi)})
			loss := CrossEntropies(Sharpen(scores, 20), Targets{Label: one(0), Lo: one(0), Hi: one(2)})
			return []*graph.Node{loss.Value}
		})[0][0]
		if math.Abs(got-c.want) > 1e-6 {
			t.Errorf("margins %g and %g: loss %.6f, want %.6f", c.class, c.task, got, c.want)
		}
	}
}

// TestSoftCrossEntropies: two references of four, T = 2, by hand; none is 0; and the logits' own softmax leaves its
// entropy, with no gradient.
func TestSoftCrossEntropies(t *testing.T) {
	in := []tensor{floats([]float64{1, 5, -1, 3}, 1, 4), floats([]float64{NoReference, 2, NoReference, 4}, 1, 4), floats([]float64{NoReference, NoReference, NoReference, NoReference}, 1, 4)}
	out := run(t, in, func(n []*graph.Node) []*graph.Node {
		logits := Dual{Value: n[0]}
		same := SoftCrossEntropies(logits, graph.StopGradient(n[0]), 2).Value
		return []*graph.Node{
			SoftCrossEntropies(logits, n[1], 2).Value, SoftCrossEntropies(logits, n[2], 2).Value, graph.Gradient(graph.ReduceAllSum(same), n[0])[0],
		}
	})
	q, p := 1/(1+math.Exp(1)), 1/(1+math.Exp(-1)) // of output 1: logits 2 and 4 become 1 and 2, and 5 and 3 become 2.5 and 1.5
	within(t, "losses", 1e-12, slices.Concat(out[:2]...), -q*math.Log(p)-(1-q)*math.Log(1-p), 0)
	within(t, "the gradient where both models agree", 1e-12, out[2], 0, 0, 0, 0)
}

// TestReferences: without any, the sigmoid loss is that of one-hot targets and squared differences are 0;
// a reference that equals the logits leaves the entropy of its sigmoid, and 0.
func TestReferences(t *testing.T) {
	z := []float64{.5, -1}
	in := []tensor{floats(z, 1, 2), floats([]float64{NoReference, NoReference}, 1, 2)}
	out := run(t, in, func(n []*graph.Node) []*graph.Node {
		g := n[0].Graph()
		one := func(x int32) *graph.Node { return graph.Const(g, []int32{x}) }
		to := Targets{Label: one(1), Lo: one(0), Hi: one(2)}
		logits := Dual{Value: n[0]}
		return []*graph.Node{
			SigmoidCrossEntropies(logits, to, n[1]).Value, SquaredDifferences(logits, n[1]).Value,
			SigmoidCrossEntropies(logits, to, n[0]).Value, SquaredDifferences(logits, n[0]).Value,
		}
	})
	p := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	entropy := 0.0
	for _, x := range z {
		entropy -= p(x)*math.Log(p(x)) + (1-p(x))*math.Log(1-p(x))
	}
	within(t, "values", 1e-12, slices.Concat(out...), -math.Log(1-p(.5))-math.Log(p(-1)), 0, entropy, 0)
}
