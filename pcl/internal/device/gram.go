package device

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// Products says which products of the rows' gradients are needed besides their losses and
// statistics.
type Products struct {
	// the diagonal of the Gram matrix M = JJᵀ over the shared parameters, which shows the rows that
	// are not finite
	Norms  bool
	Gram   bool // all of M
	Halves bool // the gradients of the two halves of each batch, for products between these
}

// name says which entries of M are needed.
func (a Products) name() string {
	switch {
	case a.Gram:
		return "gram"
	case a.Norms:
		return "norms"
	}
	return "losses"
}

// none says that no entry is needed.
func (a Products) none() bool { return !a.Gram && !a.Norms }

// from returns the first column of row i that is needed. The last one is on the diagonal.
func (a Products) from(i int) int {
	switch {
	case a.Gram:
		return 0
	case a.Norms:
		return i
	}
	return i + 1
}

// entries returns how many inner products are needed of k rows.
func (a Products) entries(k int) (n int) {
	for i := range k {
		n += i + 1 - a.from(i)
	}
	return n
}

// matrix makes a symmetric k×k matrix of the entries, which are listed row by row. Entries that
// were not asked for are 0.
func (a Products) matrix(entries []float64, k int) []float64 {
	m := make([]float64, k*k)
	for i, n := 0, 0; i < k; i++ {
		for j := a.from(i); j <= i; j++ {
			m[i*k+j], m[j*k+i] = entries[n], entries[n]
			n++
		}
	}
	return m
}

// readout returns the program (K losses[, K statistics][, K flat gradients]) → everything that the
// host needs of these rows, in one vector of float64. It holds the losses, the statistics and, if
// products are asked for, the squared norms of the gradients over the private parameters and the
// entries of JJᵀ, row by row up to the diagonal.
func (p *Set) readout(k int, asked Products) (*program.Program, error) {
	var in []program.Input
	for range k {
		in = append(in, program.Input{Name: fmt.Sprintf("l%d", len(in)), Shape: shapes.Make(dtypes.Float32)})
	}
	if n := p.Model.Layout().StatsTotal; n > 0 {
		for i := range k {
			in = append(in, program.Input{Name: fmt.Sprintf("s%d", i), Shape: shapes.Make(dtypes.Float32, n)})
		}
	}
	small := len(in)
	if !asked.none() {
		in = append(in, p.gradientInputs(k)...)
	}
	return p.lazy(programKey{name: asked.name(), rows: k}, in, func(in []*graph.Node) []*graph.Node {
		var all []*graph.Node
		for _, x := range in[:small] {
			all = append(all, graph.Reshape(graph.ConvertDType(x, dtypes.Float64), -1))
		}
		rows := in[small:]
		for _, g := range rows {
			all = append(all, graph.Reshape(innerRange(g, g, p.Shared, p.total()), 1))
		}
		for i := range rows {
			for j := asked.from(i); j <= i; j++ {
				all = append(all, graph.Reshape(p.inner(rows[i], rows[j]), 1))
			}
		}
		return []*graph.Node{graph.Concatenate(all, 0)}
	})
}

// across returns the program (g₁…g_Most, h₁…h_Most) → ⟨gᵢ,hⱼ⟩ of n = [maxRows] rows each, row by
// row, in float64.
func (p *Set) across() (*program.Program, error) {
	return p.lazy(programKey{name: "across", rows: maxRows}, p.gradientInputs(2*maxRows),
		func(in []*graph.Node) []*graph.Node {
			var all []*graph.Node
			for _, g := range in[:maxRows] {
				for _, h := range in[maxRows:] {
					all = append(all, graph.Reshape(p.inner(g, h), 1))
				}
			}
			return []*graph.Node{graph.Concatenate(all, 0)}
		})
}

func (p *Set) gradientInputs(k int) []program.Input {
	in := make([]program.Input, k)
	for i := range in {
		in[i] = program.Input{Name: fmt.Sprintf("g%d", i), Shape: p.size()}
	}
	return in
}
