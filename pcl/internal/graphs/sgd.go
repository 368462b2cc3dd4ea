package graphs

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// SGD returns the program (θ, v, hyper, x, targets[, reference]) → (θ, v[, statistics]), which makes one step of
// [rehearsal.SGD] on one batch. It serves methods that train a second network. v is the momentum; hyper holds the
// learning rate, the momentum's factor, the weight decay, and the limit of the gradient's length.
func (p *Set) SGD(l rehearsal.Loss) *program.Program {
	size := shapes.Make(dtypes.Float32, p.Total())
	in := []program.Input{
		{Name: "theta", Shape: size, Donate: true}, {Name: "v", Shape: size, Donate: true},
		{Name: "hyper", Shape: shapes.Make(dtypes.Float32, 4)},
	}
	in = append(in, p.batchInputs(Referenced(l))[1:]...)
	return p.lazy(programKey{"sgd", l, 0}, in, func(n []*graph.Node) []*graph.Node {
		theta, v, hyper := n[0], n[1], n[2]
		parts := p.Model.Layout().Split(theta)
		s := p.open(append([]*graph.Node{theta}, n[3:]...), parts, nil)
		g := s.gradient(l, parts)
		v = graph.Add(graph.Mul(v, element(hyper, 1)), graph.Add(clipped(g[0], element(hyper, 3)), graph.Mul(theta, element(hyper, 2))))
		return append([]*graph.Node{graph.Sub(theta, graph.Mul(v, element(hyper, 0))), v}, g[2:]...)
	})
}

// clipped shortens g to the given length [1] if it is longer. A length of 0 means no limit.
func clipped(g, longest *graph.Node) *graph.Node {
	norm := graph.Reshape(graph.Sqrt(graph.AddScalar(graph.ReduceAllSum(graph.Square(g)), 1e-30)), 1)
	factor := graph.Min(graph.OnesLike(norm), graph.Div(longest, norm))
	factor = graph.Where(graph.GreaterThan(longest, graph.ZerosLike(longest)), factor, graph.OnesLike(norm))
	return graph.Mul(g, factor)
}
