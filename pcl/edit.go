package pcl

import (
	"math"
	"slices"
	"sync"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// prepareEdit finds D, the direction that edits aim at, if this step edits the memory. If edits use the θ from before the
// update, it also computes the gradients by which the samples will be moved.
func (s *step) prepareEdit() error {
	if e := s.options.Edit; e.Eta == 0 || s.report.Step%e.Every != 0 {
		return nil
	}
	var err error
	if s.toward, err = s.aggregate(); err != nil {
		return err
	}
	if s.options.Edit.At == "post" {
		return s.fix(s.toward)
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
		phi, gradients, err := s.editGradients(row, s.toward)
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

// moveSamples starts to move the memory's samples if the step edits them; wait returns when that is done.
func (s *step) moveSamples() (wait func()) {
	r := s.report.Edit
	if r == nil {
		return func() {}
	}
	var busy sync.WaitGroup
	busy.Go(func() {
		for k, g := range r.Gradients {
			r.Change += s.move(r.Indices[k], g) / float64(len(r.Gradients))
		}
	})
	return busy.Wait
}

// aggregate returns D: the direction of the step or, with target "mean", that direction divided by |Σw|.
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

// fix replaces the rows of d by their weighted sum, so that the step may free the rows themselves.
func (l *Learner) fix(d *aggregate) error {
	if d.own != nil {
		return nil
	}
	var err error
	if d.own, err = l.programs.Combine(d.w, d.rows); err != nil {
		return err
	}
	d.w, d.rows = []float64{1}, []compute.Buffer{d.own}
	return nil
}

// editGradients returns φ of a memory row and the gradient ∇φ of each of its samples.
func (l *Learner) editGradients(r *row, d *aggregate) (phi float64, gradients [][]float32, err error) {
	if l.options.Edit.Mode != "per_sample" {
		return l.editAt(r, r.Flat, d)
	}
	counts, kept := r.Batch.Counts, slices.Clone(r.Batch.Counts)
	defer copy(counts, kept)
	for k := range r.Batch.N {
		clear(counts)
		counts[k] = 1
		own, rows, err := l.editAlone(r, d)
		if err != nil {
			return 0, nil, err
		}
		phi += own / float64(r.Batch.N)
		gradients = append(gradients, rows[k])
	}
	return phi, gradients, nil
}

func (l *Learner) editAlone(r *row, d *aggregate) (phi float64, gradients [][]float32, err error) {
	one, err := l.programs.Gradient(l.at(l.network.theta), r.Batch, r.Loss)
	if err != nil {
		return 0, nil, err
	}
	defer program.Free(one)
	return l.editAt(r, one, d)
}

// editAt returns φ = ‖v‖² with v = g − D (or g + D with aim "literal"), and ∇φ of each sample. ∇φ is twice the
// mixed derivative of the mean loss of the samples that count, multiplied by their number, so that its size
// does not depend on how many there are.
func (l *Learner) editAt(r *row, g compute.Buffer, d *aggregate) (phi float64, gradients [][]float32, err error) {
	sign := -1.0
	if l.options.Edit.Direction == "literal" {
		sign = 1
	}
	w, rows := []float64{1}, []compute.Buffer{g}
	for i, x := range d.w {
		if d.rows[i] == g {
			w[0] += sign * x
			continue
		}
		w, rows = append(w, sign*x), append(rows, d.rows[i])
	}
	v, err := l.programs.Combine(w, rows)
	if err != nil {
		return 0, nil, err
	}
	defer program.Free(v)
	gradients, phi, err = l.programs.Edit(l.options.Edit.where(l.at(l.network.theta)), r.Batch, r.Loss, v)
	return phi, gradients, err
}

// move moves one sample of the memory along its gradient g and returns the mean |Δx| over its pixels. A
// gradient that is zero or not finite moves nothing.
func (l *Learner) move(index int, g []float32) float64 {
	e := l.options.Edit
	square := 0.0
	for _, x := range g {
		square += float64(x) * float64(x)
	}
	if square == 0 || !finite(square) {
		return 0
	}
	step := -e.Eta
	if e.Direction == "ascend" {
		step = e.Eta
	}
	switch e.Norm {
	case "raw":
	case "l2":
		step /= math.Sqrt(square)
	default:
		step /= math.Sqrt(square / float64(len(g)))
	}
	it := l.memory.Item(index)
	origin := it.Original
	if origin == nil {
		origin = it.Pixels
	}
	moved, change := slices.Clone(it.Pixels), 0.0 // target values stay as they are
	for p, x := range it.Pixels[:len(g)] {
		y := x + float32(step*float64(g[p]))
		if e.MaxDrift > 0 {
			y = min(max(y, origin[p]-float32(e.MaxDrift)), origin[p]+float32(e.MaxDrift))
		}
		if !e.Unclamped {
			y = min(max(y, 0), 1)
		}
		moved[p] = y
		change += math.Abs(float64(y - x))
	}
	if !l.memory.Edit(index, moved) {
		return 0
	}
	return change / float64(len(g))
}
