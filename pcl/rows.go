package pcl

import (
	"math"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// row is one stream in one step: its batch, its loss, and the gradient of that loss.
type row struct {
	id         int
	device.Row       // without a batch where it is that of a penalty
	indices    []int // the places in the memory of a replayed row's samples; nil for tasks
	observed   bool  // whether the running statistics include those of its batch
}

// samples is how many samples the row has.
func (r *row) samples() int {
	if r.Batch == nil {
		return 0
	}
	return r.Batch.N
}

func (r *row) free() {
	r.Free()
	r.observed = false
}

// gradients computes the gradient of each row that has none yet. It brings the losses, the
// statistics of the batches and the inner products that are asked for to the host.
func (s *step) gradients(asked device.Products) (gram []float64, err error) {
	if gram, err = s.computed(asked); err != nil {
		return nil, err
	}
	s.observe()
	return gram, nil
}

// gradientsOfGood is gradients for rows that have not been computed before. It leaves samples out
// that make a row infinite or NaN.
func (s *step) gradientsOfGood(asked device.Products) (gram []float64, err error) {
	if gram, err = s.computed(asked); err != nil {
		return nil, err
	}
	again, err := s.leaveOut(gram)
	if err != nil {
		return nil, err
	}
	if again {
		if gram, err = s.computed(asked); err != nil {
			return nil, err
		}
	}
	s.observe()
	return gram, nil
}

func (s *step) computed(asked device.Products) (gram []float64, err error) {
	rows := make([]*device.Row, len(s.rows))
	for i := range rows {
		rows[i] = &s.rows[i].Row
	}
	asked.Halves = s.method.Needs.Cross
	return s.network.programs.Gradients(s.network.theta, rows, asked)
}

// observe averages the statistics of the rows' batches into the running ones, once.
func (s *step) observe() {
	for i := range s.rows {
		if r := &s.rows[i]; !r.observed {
			averageIn(s.network.statistics, r.Statistics)
			r.observed = true
		}
	}
}

// gradientsKept returns the gradients of the rows that take part.
func (s *step) gradientsKept() []compute.Buffer {
	out := make([]compute.Buffer, len(s.kept))
	for k, i := range s.kept {
		out[k] = s.rows[i].Flat
	}
	return out
}

// keepFinite notes which rows have a finite loss and gradient.
func (s *step) keepFinite(gram []float64) {
	s.kept = nil
	for i := range s.rows {
		if finiteRow(&s.rows[i].Row, gram, i, len(s.rows)) {
			s.kept = append(s.kept, i)
		}
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// forget frees the gradients of all rows.
func (s *step) forget() {
	for i := range s.rows {
		s.rows[i].free()
	}
}

// along returns one gradient that stands for all the given rows: over the shared parameters it is
// the given direction, over the private ones the plain sum of the rows.
func (s *step) along(direction []float64, rows []int) (compute.Buffer, error) {
	total := make([]float32, s.network.total())
	for p, x := range direction {
		total[p] = float32(x)
	}
	for _, i := range rows {
		g, err := s.network.read(s.rows[i].Flat)
		if err != nil {
			return nil, err
		}
		for p := len(direction); p < len(total); p++ {
			total[p] += g[p]
		}
	}
	return program.ToDevice(s.options.Backend, total, len(total))
}
