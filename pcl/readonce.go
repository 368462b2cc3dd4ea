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
	gram     bool
	rows     []*row
}

func (d *readOnce) warm(k int, gram bool) error {
	_, err := d.programs.readout(k, gram)
	return err
}

func (d *readOnce) begin(_ int, gram bool) { d.gram, d.rows = gram, d.rows[:0] }
func (d *readOnce) add(r *row)             { d.rows = append(d.rows, r) }
func (d *readOnce) wait()                  {}

func (d *readOnce) finish() ([]float64, error) {
	k, stats := len(d.rows), d.programs.model.Layout().StatsTotal
	p, err := d.programs.readout(k, d.gram)
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
	in, entries := append(losses, statistics...), 0
	if d.gram {
		in, entries = append(in, gradients...), k*(k+1)/2
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
	if !d.gram {
		return nil, nil
	}
	return symmetric(all[k+k*stats:], k), nil
}

// symmetric fills a k×k matrix from its entries on and below the diagonal, row by row.
func symmetric(below []float64, k int) []float64 {
	m := make([]float64, k*k)
	for i, n := 0, 0; i < k; i++ {
		for j := 0; j <= i; j++ {
			m[i*k+j], m[j*k+i] = below[n], below[n]
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
// reads of them, in one vector of float64: the losses, the statistics, and the K(K+1)/2 entries of JJᵀ
// row by row below the diagonal.
func (p *programs) readout(k int, gram bool) (*program.Program, error) {
	var in []program.Input
	for range k {
		in = append(in, program.Input{Name: fmt.Sprintf("l%d", len(in)), Shape: shapes.Make(dtypes.Float32)})
	}
	if n := p.model.Layout().StatsTotal; n > 0 {
		for i := range k {
			in = append(in, program.Input{Name: fmt.Sprintf("s%d", i), Shape: shapes.Make(dtypes.Float32, n)})
		}
	}
	small, name := len(in), "losses"
	if gram {
		in, name = append(in, p.gradientInputs(k)...), "gram"
	}
	return p.lazy(programKey{name: name, rows: k}, in, func(in []*graph.Node) []*graph.Node {
		var all []*graph.Node
		for _, x := range in[:small] {
			all = append(all, graph.Reshape(graph.ConvertDType(x, dtypes.Float64), -1))
		}
		rows := in[small:]
		for i := range rows {
			for j := range i + 1 {
				all = append(all, graph.Reshape(p.inner(rows[i], rows[j]), 1))
			}
		}
		return []*graph.Node{graph.Concatenate(all, 0)}
	})
}
