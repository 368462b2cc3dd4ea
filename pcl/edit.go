package pcl

import (
	"sync"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// prepareEdit finds D, the direction that edits lead to, if this step edits the memory. If edits
// use the parameters before the update, it also computes the gradients that the samples will be
// moved along.
func (s *step) prepareEdit() error {
	if e := s.options.Edit; e.Eta == 0 || s.report.Step%e.Every != 0 {
		return nil
	}
	var err error
	if s.toward, err = s.aggregate(); err != nil {
		return err
	}
	if s.options.Edit.At == "post" {
		return s.editor().fix(s.toward)
	}
	return s.editMemory()
}

// editAfter computes the gradients by which the samples will be moved if edits use the updated θ.
func (s *step) editAfter() error {
	if s.toward == nil || s.options.Edit.At != "post" {
		return nil
	}
	s.forget()
	for i := range s.rows {
		s.rows[i].observed = true // by the step itself: no further update follows
	}
	if err := s.penaliseAgain(); err != nil {
		return err
	}
	if _, err := s.gradients(device.Products{}); err != nil {
		return err
	}
	return s.editMemory()
}

// editMemory computes the gradient of φ for the samples of the memory's rows (docs/method.md §3.1).
func (s *step) editMemory() error {
	report, rows := &EditReport{}, 0
	for _, i := range s.kept {
		row := &s.rows[i]
		if row.id > method.MemoryID || row.Batch == nil || row.Loss.StoredLogits {
			continue
		}
		phi, gradients, err := s.editor().gradients(row, s.toward)
		if err != nil {
			return err
		}
		rows++
		report.Phi += (phi - report.Phi) / float64(rows)
		report.Indices = append(report.Indices, row.indices...)
		report.Gradients = append(report.Gradients, gradients...)
	}
	if rows > 0 { // without rows, nothing that can be edited was replayed
		s.report.Edit = report
	}
	return nil
}

// moveSamples starts to move the memory's samples if the step edits them; wait returns when that is
// done.
func (s *step) moveSamples() (wait func()) {
	r := s.report.Edit
	if r == nil {
		return func() {}
	}
	editor, busy := s.editor(), sync.WaitGroup{}
	busy.Go(func() {
		for k, g := range r.Gradients {
			r.Change += editor.move(r.Indices[k], g) / float64(len(r.Gradients))
		}
	})
	return busy.Wait
}

// aggregate returns D: the direction of the step or, with target "mean", that direction divided by
// |Σw|.
func (s *step) aggregate() (*aggregate, error) {
	r, scale := s.report, 1.0
	weights := r.Weights
	if j := r.Outcome.Summed; j != nil {
		weights = j.Weights // those of the rule, which count joined rows once
	}
	if s.options.Edit.Target == "mean" {
		scale = method.MeanScale(weights)
	}
	if r.Outcome.Direction != nil {
		g, err := s.along(r.Outcome.Direction, nil)
		if err != nil {
			return nil, err
		}
		return &aggregate{[]float64{scale}, []compute.Buffer{g}, g}, nil
	}
	d := &aggregate{}
	for k, g := range s.gradientsKept() {
		d.w, d.rows = append(d.w, scale*r.Weights[k]), append(d.rows, g)
	}
	return d, nil
}

func (s *step) editor() editor { return editor{s.options.Edit, s.network, s.memory} }
