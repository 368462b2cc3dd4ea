package graphs

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// Update returns the program (θ, optimiser state…, w [K], scalars, g₁…g_K) → (θ, state…, ‖d‖²), the
// last of them over the shared parameters. These move by d = Σ wᵢgᵢ, the private ones by the plain
// sum of the gradients (docs/method.md §1.3). A step that is not finite leaves everything as it was and has
// ‖d‖² = ∞.
func (p *Set) Update(k int) (*program.Program, error) {
	return p.updateBy(p.Optimizer, programKey{name: "update", rows: k}, true)
}

// ahead is update by plain descent that leaves θ where it is, for virtual steps.
func (p *Set) Ahead(k int) (*program.Program, error) {
	return p.updateBy(optim.SGD{}, programKey{name: "ahead", rows: k}, false)
}

func (p *Set) updateBy(rule optim.Optimizer, key programKey, donate bool) (*program.Program, error) {
	size := shapes.Make(dtypes.Float32, p.Total())
	in := []program.Input{{Name: "theta", Shape: size, Donate: donate}}
	for _, name := range rule.State() {
		in = append(in, program.Input{Name: name, Shape: size, Donate: donate})
	}
	held := len(in)
	in = append(in,
		program.Input{Name: "w", Shape: shapes.Make(dtypes.Float32, key.rows)},
		program.Input{Name: "scalars", Shape: shapes.Make(dtypes.Float32, len(rule.Scalars(1)))})
	in = append(in, p.gradientInputs(key.rows)...)
	return p.lazy(key, in, func(n []*graph.Node) []*graph.Node {
		return p.buildUpdate(rule, n[:held], n[held], n[held+1], n[held+2:])
	})
}

func (p *Set) buildUpdate(rule optim.Optimizer, state []*graph.Node, w, scalars *graph.Node, rows []*graph.Node) []*graph.Node {
	var d *graph.Node
	for i, g := range rows {
		wi := graph.Slice(w, graph.AxisRange(i, i+1)) // [1], broadcasts
		part := graph.Mul(g, p.coefficient(wi))
		if i == 0 {
			d = part
		} else {
			d = graph.Add(d, part)
		}
	}
	norm2 := p.inner(d, d)
	private := innerRange(d, d, p.Shared, p.Total())
	finite := graph.IsFinite(graph.Add(norm2, private))
	next := rule.Step(state, d, scalars)
	for i := range next {
		next[i] = graph.Where(finite, next[i], state[i])
	}
	return append(next, graph.Where(finite, norm2, graph.Infinity(norm2.Graph(), norm2.DType(), 1)))
}

// coefficient is w over the shared parameters and 1 over the private ones.
func (p *Set) coefficient(w *graph.Node) *graph.Node {
	n := p.Total()
	if p.Shared == n {
		return graph.BroadcastToDims(w, n)
	}
	index := graph.Iota(w.Graph(), shapes.Make(dtypes.Int32, n), 0)
	isShared := graph.LessThan(index, graph.Scalar(w.Graph(), dtypes.Int32, p.Shared))
	wide := graph.BroadcastToDims(w, n)
	return graph.Where(isShared, wide, graph.OnesLike(wide))
}
