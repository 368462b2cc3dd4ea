package device

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/optim"
)

// update returns the program (θ, optimiser state…, w [K], scalars, g₁…g_K) → (θ, state…, ‖d‖²),
// which makes one optimiser step along d. Over the shared parameters d = Σ wᵢgᵢ; over the private
// ones it is the plain sum of the gradients (docs/method.md §1.3). ‖d‖² is taken over the shared
// parameters only. If d is not finite, nothing changes, and ‖d‖² = ∞ is returned.
func (p *Set) update(k int) (*program.Program, error) {
	return p.updateBy(p.Optimizer, programKey{name: "update", rows: k}, true)
}

// Ahead returns θ after a step of plain gradient descent along the sum of weighted gradients.
// Methods use it to look at the parameters after a virtual step.
func (p *Set) Ahead(theta compute.Buffer, gamma float64, w []float64, rows []compute.Buffer) (compute.Buffer, error) {
	if len(rows) == 0 {
		flat, err := program.Read[float32](theta, p.total())
		if err != nil {
			return nil, err
		}
		return program.ToDevice(p.Backend, flat, p.total())
	}
	weights, rows, sum, err := p.fold(w, rows)
	if err != nil {
		return nil, err
	}
	defer program.Free(sum)
	rule := optim.SGD{LR: gamma}
	updateBy, err := p.updateBy(rule, programKey{name: "ahead", rows: len(rows)}, false)
	if err != nil {
		return nil, err
	}
	out, err := updateBy.Call(theta, weights, rule.Scalars(1), rows)
	if err != nil {
		return nil, err
	}
	program.Free(out[1])
	return out[0], nil
}

func (p *Set) updateBy(rule optim.Optimizer, key programKey, donate bool) (*program.Program, error) {
	in := []program.Input{{Name: "theta", Shape: p.size(), Donate: donate}}
	for _, name := range rule.State() {
		in = append(in, program.Input{Name: name, Shape: p.size(), Donate: donate})
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

func (p *Set) buildUpdate(rule optim.Optimizer, state []*graph.Node, w, scalars *graph.Node,
	rows []*graph.Node) []*graph.Node {
	d := p.direction(w, rows)
	norm2 := p.inner(d, d)
	private := innerRange(d, d, p.Shared, p.total())
	finite := graph.IsFinite(graph.Add(norm2, private))
	next := rule.Step(state, d, scalars)
	if len(next) != len(state) {
		panic(fmt.Errorf("optimiser %s: Step returned %d vectors; want %d, which are θ and those that State names",
			rule.Key(), len(next), len(state)))
	}
	for i := range next {
		next[i] = graph.Where(finite, next[i], state[i])
	}
	return append(next, graph.Where(finite, norm2, graph.Infinity(norm2.Graph(), norm2.DType(), 1)))
}

// coefficient returns the factor of a gradient's entries: w for the shared parameters, v for the
// private ones.
func (p *Set) coefficient(w, v *graph.Node) *graph.Node {
	n := p.total()
	if p.Shared == n {
		return graph.BroadcastToDims(w, n)
	}
	return graph.Where(p.first(w.Graph(), p.Shared), graph.BroadcastToDims(w, n), graph.BroadcastToDims(v, n))
}
