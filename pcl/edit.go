package pcl

import (
	"math"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// EditReport tells what memory editing did in one step. Its slices are valid until the next step.
type EditReport struct {
	Indices []int // of the samples in the store
	// Phi is φ before the edit: ‖∇ℓ(X) − D‖² of the batch; in mode per_sample, the mean over the samples.
	Phi float64
	// Change is the mean |Δx| over the pixels.
	Change float64
	// Gradients are ∇φ of each sample, before they are normalised.
	Gradients [][]float32
}

// edits says whether this step edits.
func (l *Learner) edits(r *StepReport) bool {
	e := l.options.Edit
	return e.on() && l.step%e.Every == 0 && !r.Rejected && len(r.IDs) > 0
}

// editMemory moves the samples of the memory's rows by a step on φ (METHODS §6). D belongs to the step's
// gradients, which are still on the device.
func (l *Learner) editMemory(kept []int, r *StepReport, target compute.Buffer) error {
	r.Edit = &EditReport{}
	rows := 0
	for _, i := range kept {
		row := &l.rows[i]
		if row.id > method.Memory || row.loss.Kind == method.StoredLogits {
			continue
		}
		phi, gradients, err := l.editGradients(row, target)
		if err != nil {
			return err
		}
		rows++
		r.Edit.Phi += (phi - r.Edit.Phi) / float64(rows)
		change := 0.0
		for k, g := range gradients {
			change += l.move(row.indices[k], g)
		}
		n := len(r.Edit.Indices)
		r.Edit.Indices = append(r.Edit.Indices, row.indices...)
		r.Edit.Gradients = append(r.Edit.Gradients, gradients...)
		if all := len(r.Edit.Indices); all > 0 {
			r.Edit.Change = (r.Edit.Change*float64(n) + change) / float64(all)
		}
	}
	return nil
}

// target returns D over the backbone, zero elsewhere: the step's direction, or its mean.
func (l *Learner) target(kept []int, r *StepReport) (compute.Buffer, error) {
	if d := r.Outcome.Direction; d != nil {
		flat := make([]float32, l.programs.total())
		for p := range l.options.Model.Layout().Backbone {
			flat[p] = float32(d[p] / l.targetScale(r.Weights))
		}
		return program.ToDevice(l.options.Backend, flat, len(flat))
	}
	w := make([]float64, len(kept))
	rows := make([]compute.Buffer, len(kept))
	for k, i := range kept {
		w[k], rows[k] = r.Weights[k]/l.targetScale(r.Weights), l.rows[i].gradient
	}
	return l.combine(w, rows)
}

// targetScale divides D.
func (l *Learner) targetScale(w []float64) float64 {
	if l.options.Edit.Target == "d" {
		return 1
	}
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	if sum == 0 {
		return 1
	}
	return sum
}

// combine returns Σ wᵢ·rowᵢ over the backbone, zero elsewhere.
func (l *Learner) combine(w []float64, rows []compute.Buffer) (compute.Buffer, error) {
	p, err := l.programs.combine(len(rows))
	if err != nil {
		return nil, err
	}
	single := make([]float32, len(w))
	for i := range w {
		single[i] = float32(w[i])
	}
	weights, err := program.ToDevice(l.options.Backend, single, len(single))
	if err != nil {
		return nil, err
	}
	defer program.Free(weights)
	out, err := p.Call(append([]compute.Buffer{weights}, rows...)...)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// editGradients returns φ and ∇φ of each sample of a memory row.
func (l *Learner) editGradients(r *row, target compute.Buffer) (phi float64, gradients [][]float32, err error) {
	if l.options.Edit.Mode == "batch" {
		phi, gradients, err = l.editAt(r, r.gradient, target)
		return phi, gradients, err
	}
	p, err := l.programs.gradient(r.loss)
	if err != nil {
		return 0, nil, err
	}
	defer l.share(r.batch, -1)
	for k := range r.batch.N {
		l.share(r.batch, k)
		g, _, err := l.gradientAt(l.theta, p, r.batch, r.loss, false)
		if err != nil {
			return 0, nil, err
		}
		own, rows, err := l.editAt(r, g, target)
		program.Free(g)
		if err != nil {
			return 0, nil, err
		}
		phi += own / float64(r.batch.N)
		gradients = append(gradients, rows[k])
	}
	return phi, gradients, nil
}

// share makes sample k of a batch the only valid one; −1 makes all valid.
func (l *Learner) share(b *hostBatch, k int) {
	for i := range b.N {
		b.valid[i] = 0
		if k < 0 || i == k {
			b.valid[i] = 1
		}
	}
}

// editAt returns φ = ‖v‖² with v = g − D (or g + D, where Eq. 12 is taken literally), and ∇φ of each
// sample: twice the mixed derivative of the valid samples' mean loss, times their number, so that it does
// not depend on how many there are.
func (l *Learner) editAt(r *row, g, target compute.Buffer) (phi float64, gradients [][]float32, err error) {
	sign := -1.0
	if l.options.Edit.Aim == "literal" {
		sign = 1
	}
	v, err := l.combine([]float64{1, sign}, []compute.Buffer{g, target})
	if err != nil {
		return 0, nil, err
	}
	defer program.Free(v)
	p, err := l.programs.edit(r.loss)
	if err != nil {
		return 0, nil, err
	}
	in, err := r.batch.upload(l.options.Backend, referenced(r.loss))
	if err != nil {
		return 0, nil, err
	}
	defer program.Free(in...)
	theta := l.theta
	out, err := p.Call(append([]compute.Buffer{theta, v}, in...)...)
	if err != nil {
		return 0, nil, err
	}
	defer program.Free(out...)
	var square [1]float64
	if err := program.ToHost(square[:], out[1]); err != nil {
		return 0, nil, err
	}
	gradients, err = matrix(out[0], r.batch.N)
	return square[0], gradients, err
}

// move makes the step of one sample and returns its mean |Δx|. A gradient that is not finite moves
// nothing.
func (l *Learner) move(index int, g []float32) float64 {
	e := l.options.Edit
	square := 0.0
	for _, x := range g {
		square += float64(x) * float64(x)
	}
	if square == 0 || math.IsNaN(square) || math.IsInf(square, 0) {
		return 0
	}
	step := -e.Eta
	if e.Aim == "ascend" {
		step = e.Eta
	}
	switch e.Norm {
	case "rms":
		step /= math.Sqrt(square / float64(len(g)))
	case "l2":
		step /= math.Sqrt(square)
	}
	it := l.memory.Item(index)
	origin := it.Origin
	if origin == nil {
		origin = it.Pixels
	}
	moved, change := make([]float32, len(g)), 0.0
	for p, x := range it.Pixels {
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
	l.memory.Edit(index, moved)
	return change / float64(len(g))
}
