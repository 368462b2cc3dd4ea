package pcl

import (
	"math"
	"sync"

	"github.com/gomlx/compute"
	"gonum.org/v1/gonum/floats"

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

// editMemory computes how the samples of the memory's rows move by a step on φ (docs/method.md §3.1), with D of the
// given weights and gradients of the step's rows. move begins to move them while the caller goes on; wait
// ends that.
func (l *Learner) editMemory(kept []int, r *StepReport, d *aggregate) (move func() (wait func()), err error) {
	r.Edit = &EditReport{}
	rows := 0
	for _, i := range kept {
		row := &l.rows[i]
		if row.id > method.Memory || row.loss.Kind == method.StoredLogits {
			continue
		}
		phi, gradients, err := l.editGradients(row, d)
		if err != nil {
			return nil, err
		}
		rows++
		r.Edit.Phi += (phi - r.Edit.Phi) / float64(rows)
		r.Edit.Indices = append(r.Edit.Indices, row.indices...)
		r.Edit.Gradients = append(r.Edit.Gradients, gradients...)
	}
	if rows == 0 { // nothing is replayed yet
		r.Edit = nil
		return func() (wait func()) { return func() {} }, nil
	}
	return func() (wait func()) {
		var busy sync.WaitGroup
		busy.Go(func() {
			for k, g := range r.Edit.Gradients {
				r.Edit.Change += l.move(r.Edit.Indices[k], g) / float64(len(r.Edit.Gradients))
			}
		})
		return busy.Wait
	}, nil
}

// aggregate is D = Σ wᵢ·rowᵢ.
type aggregate struct {
	w    []float64
	rows []compute.Buffer
	own  compute.Buffer // a row that is not one of the step's; to be freed
}

// aggregate returns D of a step: its direction, or that divided by Σw.
func (l *Learner) aggregate(kept []int, r *StepReport) (*aggregate, error) {
	scale := 1.0
	if sum := floats.Sum(r.Weights); l.options.Edit.Target == "mean" && sum != 0 {
		scale = 1 / sum
	}
	if r.Outcome.Direction != nil {
		g, err := l.along(r.Outcome.Direction, nil)
		return &aggregate{[]float64{scale}, []compute.Buffer{g}, g}, err
	}
	d := &aggregate{}
	for k, i := range kept {
		d.w, d.rows = append(d.w, scale*r.Weights[k]), append(d.rows, l.rows[i].gradient)
	}
	return d, nil
}

// fix replaces the rows by their sum, so that they may be freed.
func (l *Learner) fix(d *aggregate) (err error) {
	if d.own == nil {
		d.own, err = l.combine(d.w, d.rows)
		d.w, d.rows = []float64{1}, []compute.Buffer{d.own}
	}
	return err
}

// combine returns Σ wᵢ·rowᵢ over the backbone, zero elsewhere.
func (l *Learner) combine(w []float64, rows []compute.Buffer) (compute.Buffer, error) {
	p, err := l.programs.combine(len(rows))
	if err != nil {
		return nil, err
	}
	weights, err := l.uploadWeights(w)
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
func (l *Learner) editGradients(r *row, d *aggregate) (phi float64, gradients [][]float32, err error) {
	if l.options.Edit.Mode == "batch" {
		return l.editAt(r, r.gradient, d)
	}
	p, err := l.programs.gradient(r.loss)
	if err != nil {
		return 0, nil, err
	}
	defer l.share(r.batch, -1)
	for k := range r.batch.N {
		l.share(r.batch, k)
		one, err := l.gradientAt(l.theta, p, r.batch, r.loss)
		if err != nil {
			return 0, nil, err
		}
		own, rows, err := l.editAt(r, one.gradient, d)
		one.free()
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
func (l *Learner) editAt(r *row, g compute.Buffer, d *aggregate) (phi float64, gradients [][]float32, err error) {
	sign := -1.0
	if l.options.Edit.Aim == "literal" {
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
	v, err := l.combine(w, rows)
	if err != nil {
		return 0, nil, err
	}
	defer program.Free(v)
	p, err := l.programs.edit(r.loss)
	if err != nil {
		return 0, nil, err
	}
	in, done, err := r.batch.upload(l.options.Backend, referenced(r.loss))
	if err != nil {
		return 0, nil, err
	}
	defer done()
	out, err := p.Call(append([]compute.Buffer{l.theta, v}, in...)...)
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
	if !l.memory.Edit(index, moved) {
		return 0
	}
	return change / float64(len(g))
}
