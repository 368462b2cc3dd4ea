package graphs

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Edit returns the program (θ, v, values, targets[, reference]) → (∇φ [B, inputs], ‖v‖²) of memory editing
// (docs/method.md §3.2). Only the entries of v that belong to the backbone count.
func (p *Set) Edit(l rehearsal.Loss) *program.Program {
	return p.edit("edit", l, p.batchInputs(Referenced(l)))
}

// EditAlone is Edit for samples that are edited one by one, which normalises with the running statistics: its last input, if the
// model has any.
func (p *Set) EditAlone(l rehearsal.Loss) *program.Program {
	if p.Model.Layout().StatsTotal == 0 {
		return p.Edit(l)
	}
	return p.edit("edit-alone", l, p.evaluationInputs(Referenced(l)))
}

// edit makes a program of that name of the inputs (θ, values, targets[, reference][, running statistics]), and v.
func (p *Set) edit(name string, l rehearsal.Loss, inputs []program.Input) *program.Program {
	size := shapes.Make(dtypes.Float32, p.Total())
	in := append([]program.Input{{Name: "theta", Shape: size}, {Name: "v", Shape: size}}, inputs[1:]...)
	return p.lazy(programKey{name, l, 0}, in, func(n []*graph.Node) []*graph.Node {
		layout := p.Model.Layout()
		var running []*graph.Node
		if last := len(n) - 1; in[last].Name == "statistics" {
			running, n = layout.SplitStats(n[last]), n[:last]
		}
		direction := layout.Split(n[1])
		for i, param := range layout.Params {
			if param.Offset >= layout.Backbone {
				direction[i] = nil
			}
		}
		s := p.begin(append([]*graph.Node{n[0]}, n[2:]...))
		mixed := model.PixelGradientAlong(p.Model, layout.Split(n[0]), direction, s.x, s.weight, running, func(params []model.Dual, out model.Output) model.Dual {
			s.params, s.out = params, out
			return model.Mean(s.losses(l), s.weight)
		})
		valid := graph.ReduceAllSum(graph.ConvertDType(p.target(s.targets, TargetValid), dtypes.Float32))
		gradient := graph.Mul(mixed, graph.MulScalar(valid, 2))
		return []*graph.Node{gradient, innerRange(n[1], n[1], 0, layout.Backbone)}
	})
}

// Combine returns the program (w [K], g₁…g_K) → Σ wᵢgᵢ over the backbone's parameters, and 0 for the others.
func (p *Set) Combine(k int) *program.Program {
	in := append([]program.Input{{Name: "w", Shape: shapes.Make(dtypes.Float32, k)}}, p.gradientInputs(k)...)
	return p.lazy(programKey{name: "combine", rows: k}, in, func(n []*graph.Node) []*graph.Node {
		sum := weightedSum(n[1:], func(i int) *graph.Node { return element(n[0], i) })
		inside := p.first(sum.Graph(), p.Model.Layout().Backbone)
		return []*graph.Node{graph.Where(inside, sum, graph.ZerosLike(sum))}
	})
}
