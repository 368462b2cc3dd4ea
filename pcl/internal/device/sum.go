package device

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// maxRows is the largest number of rows of a step that a program is compiled for. More rows are
// worked through in parts, so that the number of programs does not grow with that of rows.
const maxRows = 12

// sum returns the program (w [maxRows], g₁…g_Most) → d, the direction of [Set.update].
func (p *Set) sum() (*program.Program, error) {
	in := append([]program.Input{{Name: "w", Shape: shapes.Make(dtypes.Float32, maxRows)}}, p.gradientInputs(maxRows)...)
	return p.lazy(programKey{name: "sum", rows: maxRows}, in, func(n []*graph.Node) []*graph.Node {
		return []*graph.Node{p.direction(n[0], n[1:])}
	})
}

// add returns the program (d, w [maxRows], v [maxRows], g₁…g_Most) → d + Σ wᵢgᵢ over the shared
// parameters, d + Σ vᵢgᵢ over the private ones. Rows that only fill up the program have w = v = 0.
func (p *Set) add() (*program.Program, error) {
	few := shapes.Make(dtypes.Float32, maxRows)
	in := []program.Input{{Name: "d", Shape: p.size()}, {Name: "w", Shape: few}, {Name: "v", Shape: few}}
	return p.lazy(programKey{name: "add", rows: maxRows}, append(in, p.gradientInputs(maxRows)...),
		func(n []*graph.Node) []*graph.Node {
			d := n[0]
			for i, g := range n[3:] {
				d = graph.Add(d, graph.Mul(g, p.coefficient(element(n[1], i), element(n[2], i))))
			}
			return []*graph.Node{d}
		})
}

// direction is Σ wᵢgᵢ over the shared parameters, and the plain sum of the gradients over the
// private ones.
func (p *Set) direction(w *graph.Node, rows []*graph.Node) *graph.Node {
	one := graph.OnesLike(element(w, 0))
	return weightedSum(rows, func(i int) *graph.Node { return p.coefficient(element(w, i), one) })
}

// weightedSum is Σ cᵢ·gᵢ for K ≥ 1 gradients; coefficient returns cᵢ, which broadcasts to the shape
// of a gradient.
func weightedSum(rows []*graph.Node, coefficient func(i int) *graph.Node) *graph.Node {
	sum := graph.Mul(rows[0], coefficient(0))
	for i := 1; i < len(rows); i++ {
		sum = graph.Add(sum, graph.Mul(rows[i], coefficient(i)))
	}
	return sum
}

// first returns booleans [parameters], which are true for the first n parameters.
func (p *Set) first(g *graph.Graph, n int) *graph.Node {
	index := graph.Iota(g, shapes.Make(dtypes.Int32, p.total()), 0)
	return graph.LessThan(index, graph.Scalar(g, dtypes.Int32, n))
}
