package device

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Edit returns, of memory editing (docs/method.md §3.2), ∇φ of each sample and ‖v‖². Only the
// entries of v that belong to the backbone count. Samples that are edited one by one have no
// statistics of their own.
func (p *Set) Edit(at At, b *Batch, l rehearsal.Loss, v compute.Buffer) (gradients [][]float32, square float64,
	err error) {
	edit, err := p.edit(at.Running != nil, l)
	if err != nil {
		return nil, 0, err
	}
	out, err := edit.Call(at.Theta, v, b.inputs(l), at.Running)
	if err != nil {
		return nil, 0, err
	}
	defer program.Free(out...)
	if gradients, err = matrix(out[0], b.N); err != nil {
		return nil, 0, err
	}
	read, err := program.Read[float64](out[1], 1)
	if err != nil {
		return nil, 0, err
	}
	return gradients, read[0], nil
}

// edit returns the program (θ, v, values, targets[, reference][, running statistics]) → (∇φ [B,
// inputs], ‖v‖²).
func (p *Set) edit(running bool, l rehearsal.Loss) (*program.Program, error) {
	key, more := programKey{name: "edit", loss: l, running: running}, []program.Input{{Name: "v", Shape: p.size()}}
	return p.onBatch(key, more, func(s *pass, theta, more []*graph.Node) []*graph.Node {
		layout, v := p.Model.Layout(), more[0]
		direction := split(v, layout.Params)
		for i, param := range layout.Params {
			if param.Offset >= layout.Backbone {
				direction[i] = nil
			}
		}
		mixed := s.open(theta, direction...).pixelsAlong(direction, l)
		valid := graph.ReduceAllSum(graph.ConvertDType(p.target(s.targets, targetValid), dtypes.Float32))
		gradient := graph.Mul(mixed, graph.MulScalar(valid, 2))
		return []*graph.Node{gradient, innerRange(v, v, 0, layout.Backbone)}
	})
}

// Combine returns Σ wᵢgᵢ over the backbone's parameters, and 0 for the others.
func (p *Set) Combine(w []float64, rows []compute.Buffer) (compute.Buffer, error) {
	weights, rows, sum, err := p.fold(w, rows)
	if err != nil {
		return nil, err
	}
	defer program.Free(sum)
	combination, err := p.combination(len(rows))
	if err != nil {
		return nil, err
	}
	out, err := combination.Call(weights, rows)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// combination returns the program of [Set.Combine] (w [K], g₁…g_K).
func (p *Set) combination(k int) (*program.Program, error) {
	in := append([]program.Input{{Name: "w", Shape: shapes.Make(dtypes.Float32, k)}}, p.gradientInputs(k)...)
	return p.lazy(programKey{name: "combine", rows: k}, in, func(n []*graph.Node) []*graph.Node {
		sum := weightedSum(n[1:], func(i int) *graph.Node { return element(n[0], i) })
		inside := p.first(sum.Graph(), p.Model.Layout().Backbone)
		return []*graph.Node{graph.Where(inside, sum, graph.ZerosLike(sum))}
	})
}
