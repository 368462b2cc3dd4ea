package pcl

import (
	"fmt"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// readout brings to the host what a step decides on: the losses of its rows, the statistics of their
// batches and, where asked for, M = JJᵀ over the shared parameters, in float64.
type readout interface {
	warm(k int, gram bool) error
	begin(k int, gram bool)
	// add takes the next row, right after its gradient was computed.
	add(r *row)
	// finish gives the rows their values and statistics and returns M, row-major K×K.
	finish() ([]float64, error)
	// wait returns when no gradient is being read any more.
	wait()
}

// newReadout reads device memory in place where the backend shares it with the host, and else once for
// each step.
func newReadout(backend compute.Backend, p *programs) readout {
	if backend.HasSharedBuffers() {
		return &readInPlace{programs: p}
	}
	return &readOnce{programs: p}
}

// readInPlace takes inner products in place, with float64 sums. Row k is computed while the device
// works on gradient k+1, so that only the last row costs time.
type readInPlace struct {
	programs *programs
	k        int
	gram     bool
	rows     []blas32.Vector
	m        []float64
	busy     sync.WaitGroup
	err      error
}

func (h *readInPlace) warm(int, bool) error { return nil }

func (h *readInPlace) begin(k int, gram bool) {
	h.k, h.gram, h.err, h.rows = k, gram, nil, h.rows[:0]
	if h.m = nil; gram {
		h.m = make([]float64, k*k)
	}
}

func (h *readInPlace) add(r *row) {
	if h.err == nil {
		h.err = r.read()
	}
	if h.err != nil || !h.gram {
		return
	}
	g, err := host(r.gradient, h.programs.total())
	if err != nil {
		h.err = err
		return
	}
	h.rows = append(h.rows, blas32.Vector{N: h.programs.shared, Inc: 1, Data: g[:h.programs.shared]})
	i := len(h.rows) - 1
	rows := h.rows[:i+1]
	if len(rows) == h.k && i > 1 { // the last: nothing runs beside it, so two share it
		half := (i + 1) / 2
		h.busy.Go(func() { h.products(rows, 0, half) })
		h.products(rows, half, i+1)
		return
	}
	h.busy.Go(func() { h.products(rows, 0, i+1) })
}

// products fills entries from…to−1 of the last row.
func (h *readInPlace) products(rows []blas32.Vector, from, to int) {
	i := len(rows) - 1
	for j := from; j < to; j++ {
		v := blas32.DDot(rows[i], rows[j])
		h.m[i*h.k+j], h.m[j*h.k+i] = v, v
	}
}

func (h *readInPlace) wait() { h.busy.Wait() }

func (h *readInPlace) finish() ([]float64, error) {
	h.wait()
	return h.m, h.err
}

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
