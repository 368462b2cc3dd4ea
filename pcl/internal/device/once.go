package device

import (
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// readOnce has the device compute what the host needs of up to maxRows rows and copies it to the
// host at once. More rows are read in parts, and the products between each two parts after these.
type readOnce struct {
	set   *Set
	asked Products
	rows  []*Row
}

func (d *readOnce) begin(_ int, asked Products) { d.asked, d.rows = asked, d.rows[:0] }
func (d *readOnce) add(r *Row) error            { d.rows = append(d.rows, r); return nil }
func (d *readOnce) wait()                       {}

// finish reads the rows in parts of at most [maxRows], and the products between each two of these.
func (d *readOnce) finish() ([]float64, error) {
	k := len(d.rows)
	m := make([]float64, k*k)
	for from := 0; from < k; from += maxRows {
		part := d.rows[from:min(k, from+maxRows)]
		own, err := d.read(part)
		if err != nil {
			return nil, err
		}
		for i := range part {
			copy(m[(from+i)*k+from:], own[i*len(part):(i+1)*len(part)])
		}
		for before := 0; before < from && d.asked.Gram; before += maxRows {
			if err := d.across(m, before, from); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// read sets the losses and statistics of some rows and returns their part of M.
func (d *readOnce) read(rows []*Row) ([]float64, error) {
	k, stats := len(rows), d.set.Model.Layout().StatsTotal
	var losses, statistics, gradients []any
	for _, r := range rows {
		losses, statistics, gradients = append(losses, r.loss), append(statistics, r.statistics), append(gradients, r.Flat)
	}
	in, entries := []any{losses, statistics}, d.asked.entries(k)
	if !d.asked.none() {
		in, entries = append(in, gradients), entries+k
	}
	products, err := d.set.readout(k, d.asked)
	if err != nil {
		return nil, err
	}
	// in this order: k losses, k×stats statistics, k squared norms over the private parameters if
	// products are asked for, entries of M
	all, err := numbers(products, in, k+k*stats+entries)
	if err != nil {
		return nil, err
	}
	for i, r := range rows {
		r.Value = all[i]
		r.Statistics = single(all[k+i*stats : k+(i+1)*stats])
	}
	read := all[k+k*stats:]
	if !d.asked.none() {
		for i, r := range rows {
			r.Private = read[i]
		}
		read = read[k:]
	}
	return d.asked.matrix(read, k), nil
}

// across sets the entries of M between the rows of two parts, which begin at first and second. A
// shorter second part is filled up with the last row, whose products are ignored.
func (d *readOnce) across(m []float64, first, second int) error {
	k, in := len(d.rows), make([]compute.Buffer, 2*maxRows)
	for i := range maxRows {
		in[i], in[maxRows+i] = d.rows[first+i].Flat, d.rows[min(second+i, k-1)].Flat
	}
	across, err := d.set.across()
	if err != nil {
		return err
	}
	products, err := numbers(across, in, maxRows*maxRows)
	if err != nil {
		return err
	}
	for n, x := range products {
		if i, j := first+n/maxRows, second+n%maxRows; j < k {
			m[i*k+j], m[j*k+i] = x, x
		}
	}
	return nil
}

// numbers returns the n numbers that are the one output of a program.
func numbers(p *program.Program, in any, n int) ([]float64, error) {
	out, err := p.Call(in)
	if err != nil {
		return nil, err
	}
	defer program.Free(out...)
	read, err := program.Read[float64](out[0], n)
	if err != nil {
		return nil, err
	}
	return slices.Clone(read), nil
}

// single returns x rounded to float32.
func single(x []float64) []float32 {
	out := make([]float32, len(x))
	for i := range x {
		out[i] = float32(x[i])
	}
	return out
}
