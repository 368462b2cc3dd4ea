package pcl

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// readOnce runs one program over all rows and reads its result back.
type readOnce struct {
	programs *programs
	asked    inner
	rows     []*row
}

func (d *readOnce) warm(k int, asked inner) error {
	_, err := d.programs.readout(k, asked)
	return err
}

func (d *readOnce) begin(_ int, asked inner) { d.asked, d.rows = asked, d.rows[:0] }
func (d *readOnce) add(r *row)               { d.rows = append(d.rows, r) }
func (d *readOnce) wait()                    {}

func (d *readOnce) finish() ([]float64, error) {
	k, stats := len(d.rows), d.programs.model.Layout().StatsTotal
	p, err := d.programs.readout(k, d.asked)
	if err != nil {
		return nil, err
	}
	var losses, statistics, gradients []compute.Buffer
	for _, r := range d.rows {
		losses, gradients = append(losses, r.objective), append(gradients, r.gradient)
		if stats > 0 {
			statistics = append(statistics, r.statistics)
		}
	}
	in, entries := append(losses, statistics...), d.asked.entries(k)
	if d.asked != nothing {
		in, entries = append(in, gradients...), entries+k
	}
	out, err := p.Call(in...)
	if err != nil {
		return nil, err
	}
	defer program.Free(out...)
	all := make([]float64, k+k*stats+entries)
	if err := program.ToHost(all, out[0]); err != nil {
		return nil, err
	}
	for i, r := range d.rows {
		r.value = all[i]
		r.observed = single(all[k+i*stats : k+(i+1)*stats])
	}
	products := all[k+k*stats:]
	if d.asked != nothing {
		for i, r := range d.rows {
			r.private = products[i]
		}
		products = products[k:]
	}
	return d.asked.matrix(products, k), nil
}

// from is the column at which what is read of row i begins; it ends with the diagonal.
func (a inner) from(i int) int {
	switch a {
	case gram:
		return 0
	case norms:
		return i
	}
	return i + 1
}

// entries is how many products are read of k rows.
func (a inner) entries(k int) (n int) {
	for i := range k {
		n += i + 1 - a.from(i)
	}
	return n
}

// matrix fills a symmetric k×k matrix from what was read, row by row.
func (a inner) matrix(entries []float64, k int) []float64 {
	m := make([]float64, k*k)
	for i, n := 0, 0; i < k; i++ {
		for j := a.from(i); j <= i; j++ {
			m[i*k+j], m[j*k+i] = entries[n], entries[n]
			n++
		}
	}
	return m
}

func single(x []float64) []float32 {
	out := make([]float32, len(x))
	for i := range x {
		out[i] = float32(x[i])
	}
	return out
}

// readout returns the program (K losses[, K statistics][, K flat gradients]) → all that a step's host
// reads of them, in one vector of float64: the losses, the statistics and, where products are asked for, the
// squared norms of the private parts and the entries of JJᵀ, row by row up to the diagonal.
func (p *programs) readout(k int, asked inner) (*program.Program, error) {
	var in []program.Input
	for range k {
		in = append(in, program.Input{Name: fmt.Sprintf("l%d", len(in)), Shape: shapes.Make(dtypes.Float32)})
	}
	if n := p.model.Layout().StatsTotal; n > 0 {
		for i := range k {
			in = append(in, program.Input{Name: fmt.Sprintf("s%d", i), Shape: shapes.Make(dtypes.Float32, n)})
		}
	}
	small, name := len(in), []string{"losses", "norms", "gram"}[asked]
	if asked != nothing {
		in = append(in, p.gradientInputs(k)...)
	}
	return p.lazy(programKey{name: name, rows: k}, in, func(in []*graph.Node) []*graph.Node {
		var all []*graph.Node
		for _, x := range in[:small] {
			all = append(all, graph.Reshape(graph.ConvertDType(x, dtypes.Float64), -1))
		}
		rows := in[small:]
		for _, g := range rows {
			all = append(all, graph.Reshape(innerRange(g, g, p.shared, p.total()), 1))
		}
		for i := range rows {
			for j := asked.from(i); j <= i; j++ {
				all = append(all, graph.Reshape(p.inner(rows[i], rows[j]), 1))
			}
		}
		return []*graph.Node{graph.Concatenate(all, 0)}
	})
}
