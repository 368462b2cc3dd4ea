package device

import (
	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// readOnce has the device compute everything that the host needs of all rows, and copies the result to the host
// once.
type readOnce struct {
	set   *graphs.Set
	asked graphs.Products
	rows  []*Gradient
}

func (d *readOnce) Warm(k int, asked graphs.Products) error {
	_, err := d.set.Readout(k, asked)
	return err
}

func (d *readOnce) Begin(_ int, asked graphs.Products) { d.asked, d.rows = asked, d.rows[:0] }
func (d *readOnce) Add(r *Gradient)                    { d.rows = append(d.rows, r) }
func (d *readOnce) Wait()                              {}

func (d *readOnce) Finish() ([]float64, error) {
	k, stats := len(d.rows), d.set.Model.Layout().StatsTotal
	p, err := d.set.Readout(k, d.asked)
	if err != nil {
		return nil, err
	}
	var losses, statistics, gradients []compute.Buffer
	for _, r := range d.rows {
		losses, gradients = append(losses, r.loss), append(gradients, r.Flat)
		if stats > 0 {
			statistics = append(statistics, r.statistics)
		}
	}
	in, entries := append(losses, statistics...), d.asked.Entries(k)
	if d.asked != graphs.None {
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
		r.Value = all[i]
		r.Statistics = Single(all[k+i*stats : k+(i+1)*stats])
	}
	products := all[k+k*stats:]
	if d.asked != graphs.None {
		for i, r := range d.rows {
			r.Private = products[i]
		}
		products = products[k:]
	}
	return d.asked.Matrix(products, k), nil
}

// Single returns x rounded to float32.
func Single(x []float64) []float32 {
	out := make([]float32, len(x))
	for i := range x {
		out[i] = float32(x[i])
	}
	return out
}
