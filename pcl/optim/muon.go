package optim

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/params"
)

// Muon makes the step of each matrix along its orthogonalised momentum (Jordan et al., Muon: An optimizer for hidden layers
// in neural networks, 2024), and that of all other parameters as [AdamW]: m ← μm + (1−μ)d and
// θ ← θ(1 − γλ) − 0.2γ√max(rows, columns)·O, where O comes from (1−μ)d + μm by five Newton–Schulz iterations, which bring its
// singular values near 1. The factor of γ gives a matrix steps as long as Adam's (Liu et al., Muon is Scalable for LLM
// Training, arXiv 2502.16982), so that both take one learning rate. The momentum μ is 0.95 unless it is set.
type Muon struct {
	AdamW
	Momentum float64 `param:"momentum" default:"0.95" range:"[0,1)"` // μ
}

// Validate implements [Optimizer].
func (o Muon) Validate() error { return check(o) }

// Key implements [Optimizer].
func (o Muon) Key() string {
	o, _ = params.Filled(o)
	return fmt.Sprintf("muon %g %s", o.Momentum, o.AdamW.Key())
}

// Matrix is a matrix among the parameters: its entries are those of θ from At on, row by row.
type Matrix struct{ At, Rows, Columns int }

// StepOf builds a step of o like [Optimizer].Step, for parameters among which there are matrices that the optimiser may treat
// as such, in the order of θ. Only [Muon] does.
func StepOf(o Optimizer, matrices []Matrix, state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	switch o := o.(type) {
	case Scheduled:
		return StepOf(o.Optimizer, matrices, state, d, scalars)
	case Muon:
		return o.stepOf(matrices, state, d, scalars)
	}
	return o.Step(state, d, scalars)
}

func (o Muon) stepOf(matrices []Matrix, state []*graph.Node, d, scalars *graph.Node) []*graph.Node {
	o, _ = params.Filled(o)
	next := o.Step(state, d, scalars)
	var theta, m []*graph.Node // the pieces of θ and m
	rest := func(from, to int) {
		if to > from {
			theta, m = append(theta, cut(next[0], from, to)), append(m, cut(next[1], from, to))
		}
	}
	at := 0
	for _, x := range matrices {
		rest(at, x.At)
		from := x.At
		at = from + x.Rows*x.Columns
		grad := cut(d, from, at)
		mean := graph.Add(graph.MulScalar(cut(state[1], from, at), o.Momentum), graph.MulScalar(grad, 1-o.Momentum))
		look := graph.Add(graph.MulScalar(grad, 1-o.Momentum), graph.MulScalar(mean, o.Momentum))
		step := graph.MulScalar(x.orthogonal(look), 0.2*math.Sqrt(float64(max(x.Rows, x.Columns))))
		old := cut(state[0], from, at)
		step = graph.Mul(element(scalars, 0), graph.Add(step, graph.MulScalar(old, o.WeightDecay)))
		theta, m = append(theta, graph.Sub(old, step)), append(m, mean)
	}
	rest(at, d.Shape().Size())
	next[0], next[1] = graph.Concatenate(theta, 0), graph.Concatenate(m, 0)
	return next
}

// orthogonal returns g, given and returned as a vector, with singular values near 1: those above a hundredth of g's length
// come between 0.68 and 1.14. The coefficients are the published ones, which lift small singular values fast.
func (x Matrix) orthogonal(g *graph.Node) *graph.Node {
	const a, b, c = 3.4445, -4.7750, 2.0315
	long := x.Rows > x.Columns
	g = graph.Reshape(g, x.Rows, x.Columns)
	if long {
		g = graph.Transpose(g, 0, 1)
	}
	g = graph.Div(g, graph.AddScalar(graph.Sqrt(graph.ReduceAllSum(graph.Square(g))), 1e-7))
	for range 5 {
		gram := graph.DotGeneral(g, []int{1}, nil, g, []int{1}, nil)
		p := graph.Add(graph.MulScalar(gram, b), graph.MulScalar(graph.Dot(gram, gram).Product(), c))
		g = graph.Add(graph.MulScalar(g, a), graph.Dot(p, g).Product())
	}
	if long {
		g = graph.Transpose(g, 0, 1)
	}
	return graph.Reshape(g, -1)
}

// cut returns the entries of a vector from one place to before another.
func cut(x *graph.Node, from, to int) *graph.Node { return graph.Slice(x, graph.AxisRange(from, to)) }
