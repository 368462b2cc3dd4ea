package pcl

import (
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
)

// taskRows gathers a row for each task that takes part in the step.
func (s *step) taskRows() (rows []row, err error) {
	for _, t := range s.tasks.present() {
		if !t.ready {
			continue
		}
		b, err := s.varied(t)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{id: t.id, batch: b, loss: s.lossOf(t.id)})
	}
	return rows, nil
}

// gradients computes the gradient of each row that has none yet, and brings to the host what it needs of all
// rows: the losses, the statistics of the batches, and the inner products that are asked for.
func (s *step) gradients(asked graphs.Products) (gram []float64, err error) {
	finished, wait := s.beginGradients() // lanes.go
	defer wait()
	s.readout.Begin(len(s.rows), asked)
	for i := range s.rows {
		if err := finished(i); err != nil {
			return nil, err
		}
		s.readout.Add(&s.rows[i].Gradient)
	}
	if gram, err = s.readout.Finish(); err != nil {
		return nil, err
	}
	for i := range s.rows {
		if r := &s.rows[i]; !r.observed {
			s.network.averageIn(r.Statistics)
			r.observed = true
		}
	}
	return gram, nil
}
