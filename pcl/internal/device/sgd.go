package device

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// SGD makes one step of [rehearsal.SGD] on one batch, of parameters and their momentum. It serves
// methods that train a second network. hyper holds the learning rate, the momentum's factor, the
// weight decay, and the limit of the gradient's length. It returns the batch's statistics; nil if
// the model has none.
func (p *Set) SGD(vectors *[2]compute.Buffer, b *Batch, l rehearsal.Loss, hyper []float32) (statistics []float32,
	err error) {
	sgd, err := p.sgd(l)
	if err != nil {
		return nil, err
	}
	out, err := sgd.Call(&vectors[0], &vectors[1], hyper, b.inputs(l))
	if err != nil {
		return nil, err
	}
	*vectors = [2]compute.Buffer(out[:2])
	defer program.Free(out[2:]...)
	if len(out) > 2 {
		read, err := program.Read[float32](out[2], p.Model.Layout().StatsTotal)
		if err != nil {
			return nil, err
		}
		statistics = slices.Clone(read)
	}
	return statistics, nil
}

// sgd returns the program (θ, v, hyper, x, targets[, reference]) → (θ, v[, statistics]).
func (p *Set) sgd(l rehearsal.Loss) (*program.Program, error) {
	in := append([]program.Input{
		{Name: "theta", Shape: p.size(), Donate: true}, {Name: "v", Shape: p.size(), Donate: true},
		{Name: "hyper", Shape: shapes.Make(dtypes.Float32, 4)},
	}, p.batchInputs(l)...)
	return p.lazy(programKey{name: "sgd", loss: l}, in, func(n []*graph.Node) []*graph.Node {
		theta, v, hyper := n[0], n[1], n[2]
		g := p.begin(n[3:]).open(split(theta, p.Model.Layout().Params)).gradient(l)
		v = graph.Add(graph.Mul(v, element(hyper, 1)),
			graph.Add(clipped(g[0], element(hyper, 3)), graph.Mul(theta, element(hyper, 2))))
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
