package pcl

import (
	"fmt"
	"math"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// train computes the gradients, asks the method for weights and updates the parameters.
func (l *Learner) train(tasks []row) (*StepReport, error) {
	r := &StepReport{Step: l.step}
	if i, ok := method.As[method.Idler](l.options.Method); ok && i.Idle() {
		return r, nil
	}
	info := l.options.Method.Info()
	gram, err := l.differentiateAll(tasks)
	if err != nil {
		return nil, err
	}
	kept := l.finite(gram, r)
	if len(kept) == 0 {
		return r, nil
	}
	if info.NeedsGram {
		r.Gram = submatrix(gram, len(l.rows), kept)
	}
	r.Weights = make([]float64, len(kept))
	step := &method.Step{IDs: r.IDs, Losses: r.Losses, Gram: r.Gram, Rand: l.rng.Rand}
	if info.NeedsRows {
		if step.Rows, err = l.jacobian(kept); err != nil {
			return nil, err
		}
	}
	if info.NeedsCross {
		if step.Cross, err = l.cross(kept); err != nil {
			return nil, err
		}
	}
	if r.Outcome, err = l.options.Method.Weights(step, r.Weights); err != nil {
		return nil, err
	}
	for i, w := range r.Weights {
		if math.IsNaN(w) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("method %s gave stream %d the weight %g", info.Name, r.IDs[i], w)
		}
	}
	return r, l.conclude(kept, r)
}

// conclude makes the step whose weights are known, and what belongs to it: the memory's edit before or
// after it, an extra update, the method's look at the new losses.
func (l *Learner) conclude(kept []int, r *StepReport) error {
	var d *aggregate
	move := func() (wait func()) { return func() {} } // the memory's samples, once the step stands
	edit := func() (err error) {
		move, err = l.editMemory(kept, r, d)
		return err
	}
	if l.edits(r) {
		var err error
		if d, err = l.aggregate(kept, r); err != nil {
			return err
		}
		defer func() { program.Free(d.own) }()
		if l.options.Edit.At == "pre" {
			err = edit()
		} else {
			err = l.fix(d)
		}
		if err != nil {
			return err
		}
	}
	if err := l.apply(kept, r); err != nil || r.Rejected {
		r.Edit = nil
		return err
	}
	if l.options.ExtraUpdate {
		if err := l.again(kept, r); err != nil {
			return err
		}
	}
	if d != nil && l.options.Edit.At == "post" {
		if err := l.renew(); err != nil {
			return err
		}
		if err := edit(); err != nil {
			return err
		}
	}
	wait := move()
	defer wait()
	return l.follow(kept, r)
}

// again makes a second update with the same weights, from the same batches' gradients at the new θ.
func (l *Learner) again(kept []int, r *StepReport) error {
	if err := l.renew(); err != nil {
		return err
	}
	rows := make([]compute.Buffer, len(kept))
	for k, i := range kept {
		rows[k] = l.rows[i].gradient
	}
	_, err := l.descend(r.Weights, rows)
	return err
}

// renew computes the gradients of all rows at the θ of now.
func (l *Learner) renew() error {
	for i := range l.rows {
		l.rows[i].free()
	}
	_, err := l.gradients(nothing)
	return err
}

// finite returns the indices of the rows whose loss and gradient are finite, and reports them and
// the others. gram has at least the squares of the gradients' norms, on its diagonal; an update adds them
// up in float32, so that a square beyond its range counts as not finite.
func (l *Learner) finite(gram []float64, r *StepReport) []int {
	kept := make([]int, 0, len(l.rows))
	for i, row := range l.rows {
		square := row.private + gram[i*len(l.rows)+i]
		if math.IsNaN(row.value) || math.IsInf(row.value, 0) || !(square <= math.MaxFloat32) {
			r.Skipped = append(r.Skipped, row.id)
			continue
		}
		kept = append(kept, i)
		r.IDs = append(r.IDs, row.id)
		r.Losses = append(r.Losses, row.value)
	}
	return kept
}

// submatrix keeps the given rows and columns of an n×n matrix.
func submatrix(m []float64, n int, kept []int) []float64 {
	if len(kept) == n {
		return m
	}
	out := make([]float64, 0, len(kept)*len(kept))
	for _, i := range kept {
		for _, j := range kept {
			out = append(out, m[i*n+j])
		}
	}
	return out
}

// follow shows the method the losses of the same batches at the new parameters.
func (l *Learner) follow(kept []int, r *StepReport) error {
	f, ok := method.As[method.Follower](l.options.Method)
	if !ok {
		return nil
	}
	after := make([]float64, len(kept))
	for k, i := range kept {
		each, err := l.lossesAt(l.theta, l.rows[i].batch, l.rows[i].loss)
		if err != nil {
			return err
		}
		for _, x := range each {
			after[k] += x / float64(len(each))
		}
	}
	return f.Follow(r.IDs, after)
}
