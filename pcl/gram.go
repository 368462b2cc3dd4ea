package pcl

import (
	"sync"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// gramMaker computes M = JJᵀ over the shared parameters, in float64, row by row as the gradients
// come: add is called with each gradient right after it was computed, finish once at the end.
type gramMaker interface {
	warm(k int) error
	begin(k int)
	add(g compute.Buffer)
	// finish writes M, row-major K×K.
	finish(m []float64) error
	// wait returns when no gradient is being read any more.
	wait()
}

// newGramMaker reads device memory in place where the backend shares it with the host, and else
// computes on the device.
func newGramMaker(backend compute.Backend, p *programs) gramMaker {
	if backend.HasSharedBuffers() {
		return &hostGram{shared: p.shared}
	}
	return &deviceGram{programs: p}
}

// hostGram takes inner products in place, with float64 sums. Row k is computed while the device
// works on gradient k+1, so that only the last row costs time.
type hostGram struct {
	shared int
	k      int
	rows   []blas32.Vector
	m      []float64
	busy   sync.WaitGroup
	err    error
}

func (h *hostGram) warm(int) error { return nil }

func (h *hostGram) begin(k int) {
	h.k, h.err, h.rows = k, nil, h.rows[:0]
	if cap(h.m) < k*k {
		h.m = make([]float64, k*k)
	}
	h.m = h.m[:k*k]
}

func (h *hostGram) add(g compute.Buffer) {
	flat, err := g.Data()
	if err != nil {
		h.err = err
		return
	}
	h.rows = append(h.rows, blas32.Vector{N: h.shared, Inc: 1, Data: flat.([]float32)[:h.shared]})
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
func (h *hostGram) products(rows []blas32.Vector, from, to int) {
	i := len(rows) - 1
	for j := from; j < to; j++ {
		v := blas32.DDot(rows[i], rows[j])
		h.m[i*h.k+j], h.m[j*h.k+i] = v, v
	}
}

func (h *hostGram) wait() { h.busy.Wait() }

func (h *hostGram) finish(m []float64) error {
	h.wait()
	if h.err == nil {
		copy(m, h.m)
	}
	return h.err
}

// deviceGram runs one program over all gradients and reads its result back.
type deviceGram struct {
	programs *programs
	rows     []compute.Buffer
}

func (d *deviceGram) warm(k int) error {
	_, err := d.programs.gram(k)
	return err
}

func (d *deviceGram) begin(int)            { d.rows = d.rows[:0] }
func (d *deviceGram) add(g compute.Buffer) { d.rows = append(d.rows, g) }
func (d *deviceGram) wait()                {}

func (d *deviceGram) finish(m []float64) error {
	k := len(d.rows)
	p, err := d.programs.gram(k)
	if err != nil {
		return err
	}
	out, err := p.Call(d.rows...)
	if err != nil {
		return err
	}
	defer program.Free(out...)
	below := make([]float64, k*(k+1)/2)
	if err := program.ToHost(below, out[0]); err != nil {
		return err
	}
	for i, n := 0, 0; i < k; i++ {
		for j := 0; j <= i; j++ {
			m[i*k+j], m[j*k+i] = below[n], below[n]
			n++
		}
	}
	return nil
}
