package device

import (
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// readOnce has the device compute everything that the host needs of all rows, and copies the result to the host
// once.
type readOnce struct {
	set   *Set
	asked Products
	rows  []*Row
}

func (d *readOnce) begin(_ int, asked Products) { d.asked, d.rows = asked, d.rows[:0] }
func (d *readOnce) add(r *Row)                  { d.rows = append(d.rows, r) }
func (d *readOnce) wait()                       {}

// finish reads the rows in parts of at most [maxRows], and the products between each two of these.
func (d *readOnce) finish() []float64 {
	k := len(d.rows)
	m := make([]float64, k*k)
	for from := 0; from < k; from += maxRows {
		part := d.rows[from:min(k, from+maxRows)]
		own := d.read(part)
		for i := range part {
			copy(m[(from+i)*k+from:], own[i*len(part):(i+1)*len(part)])
		}
		for before := 0; before < from && d.asked.Gram; before += maxRows {
			d.across(m, before, from)
		}
	}
	return m
}

// read sets the losses and statistics of some rows and returns their part of M.
func (d *readOnce) read(rows []*Row) []float64 {
	k, stats := len(rows), d.set.Model.Layout().StatsTotal
	var losses, statistics, gradients []any
	for _, r := range rows {
		losses, statistics, gradients = append(losses, r.loss), append(statistics, r.statistics), append(gradients, r.Flat)
	}
	in, entries := []any{losses, statistics}, d.asked.entries(k)
	if !d.asked.none() {
		in, entries = append(in, gradients), entries+k
	}
	all := numbers(d.set.readout(k, d.asked), in, k+k*stats+entries)
	for i, r := range rows {
		r.Value = all[i]
		r.Statistics = single(all[k+i*stats : k+(i+1)*stats])
	}
	products := all[k+k*stats:]
	if !d.asked.none() {
		for i, r := range rows {
			r.Private = products[i]
		}
		products = products[k:]
	}
	return d.asked.matrix(products, k)
}

// across sets the entries of M between the parts of the rows that begin at two places. The last row stands for those that
// the second part lacks.
func (d *readOnce) across(m []float64, first, second int) {
	k, in := len(d.rows), make([]compute.Buffer, 2*maxRows)
	for i := range maxRows {
		in[i], in[maxRows+i] = d.rows[first+i].Flat, d.rows[min(second+i, k-1)].Flat
	}
	for n, x := range numbers(d.set.across(), in, maxRows*maxRows) {
		if i, j := first+n/maxRows, second+n%maxRows; j < k {
			m[i*k+j], m[j*k+i] = x, x
		}
	}
}

// numbers returns the n numbers that are the one output of a program.
func numbers(p *program.Program, in any, n int) []float64 {
	out := p.Call(in)
	defer program.Free(out...)
	return slices.Clone(program.Read[float64](out[0], n))
}

// single returns x rounded to float32.
func single(x []float64) []float32 {
	out := make([]float32, len(x))
	for i := range x {
		out[i] = float32(x[i])
	}
	return out
}
