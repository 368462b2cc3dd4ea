package device

import (
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/model"
)

// cosines returns the cosine of the angle between each sample's features [B,F] and each output's
// weights, which are the columns of [F,C]. They are the scores [B,C] of an angular classifier
// (docs/method.md §5.5). If frobenius is true, the weights are divided by the norm of the whole
// matrix instead of the norm of their column.
func cosines(features, weights model.Dual, frobenius bool) model.Dual {
	axes := []int{0}
	if frobenius {
		axes = []int{0, 1}
	}
	f, w := unit(features, 1), unit(weights, axes...)
	dot := func(a, b *graph.Node) *graph.Node { return graph.Dot(a, b).Product() }
	out := f.Chain(dot(f.Value, w.Value), func(df *graph.Node) *graph.Node { return dot(df, w.Value) })
	if w.Tangent != nil {
		along := dot(f.Value, w.Tangent)
		if out.Tangent != nil {
			along = graph.Add(out.Tangent, along)
		}
		out.Tangent = along
	}
	return out
}

// unit divides x by its norm along the axes. Zero stays zero.
func unit(x model.Dual, axes ...int) model.Dual {
	norm := graph.Sqrt(graph.AddScalar(graph.ReduceAndKeep(graph.Square(x.Value), graph.ReduceSum, axes...), 1e-24))
	y := graph.Div(x.Value, norm)
	return x.Chain(y, func(dx *graph.Node) *graph.Node {
		along := graph.ReduceAndKeep(graph.Mul(y, dx), graph.ReduceSum, axes...)
		return graph.Div(graph.Sub(dx, graph.Mul(y, along)), norm)
	})
}

// margins are angles, in radians, that are added to a sample's angles before the softmax: Class to
// the angle of the right class, and Task to the angles of all outputs of the sample's task,
// [TaskLo,TaskHi) (int32 [B]).
type margins struct {
	Class, Task    float64
	TaskLo, TaskHi *graph.Node
}

// withMargins turns the cosines [B,C] of angles φ into cos(φ+m) = cosφ·cos m − sinφ·sin m, where m
// is the sum of the margins. An angle that would become larger than π becomes π.
func withMargins(cosines model.Dual, label *graph.Node, m margins) model.Dual {
	x := cosines.Value
	right := graph.OneHot(label, x.Shape().Dimensions[1], x.DType())
	task := graph.ConvertDType(allowed(x, m.TaskLo, m.TaskHi), x.DType())
	margin := graph.Add(graph.MulScalar(right, m.Class), graph.MulScalar(task, m.Task))
	cosM, sinM := graph.Cos(margin), graph.Sin(margin)
	const edge = 1 - 1e-7 // at 1, acos has no derivative (docs/method.md §5.5)
	c := graph.ClipScalar(x, -edge, edge)
	sinPhi := graph.Sqrt(graph.OneMinus(graph.Square(c)))
	inside := graph.GreaterThan(c, graph.Neg(cosM))
	inside = graph.LogicalOr(inside, graph.Equal(margin, graph.ZerosLike(margin)))
	floor := graph.Neg(graph.OnesLike(c))
	value := graph.Where(inside, graph.Sub(graph.Mul(c, cosM), graph.Mul(sinPhi, sinM)), floor)
	return cosines.Chain(value, func(dx *graph.Node) *graph.Node {
		slope := graph.Add(cosM, graph.Mul(graph.Div(c, sinPhi), sinM))
		free := graph.LogicalAnd(inside, graph.LessThan(graph.Abs(x), graph.MulScalar(graph.OnesLike(x), edge)))
		return graph.Where(free, graph.Mul(slope, dx), graph.ZerosLike(x))
	})
}

// scaled multiplies scores by s.
func scaled(scores model.Dual, s float64) model.Dual {
	by := func(n *graph.Node) *graph.Node { return graph.MulScalar(n, s) }
	return scores.Chain(by(scores.Value), by)
}
