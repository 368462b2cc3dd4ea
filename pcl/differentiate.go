package pcl

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
)

// differentiateAll computes the gradients of a step's rows, the memory's first, and their Gram matrix
// where the method asks for it. A method that chooses what is replayed sees the tasks' gradients first.
func (l *Learner) differentiateAll(tasks []row) ([]float64, error) {
	_, chooses := method.As[method.Replayer](l.options.Method)
	l.rows = tasks
	if chooses {
		if _, err := l.gradients(nothing); err != nil {
			return nil, err
		}
	}
	if chooses || l.memory.Len() > 0 {
		replayed, err := l.memoryRows()
		if err != nil {
			return nil, err
		}
		for _, r := range replayed {
			if err := l.aim(r.batch, r.loss); err != nil {
				return nil, err
			}
		}
		l.rows = append(replayed, l.rows...)
	}
	return l.gradients(products(l.options.Method))
}

// aim sets what a batch should predict, for a loss.
func (l *Learner) aim(b *hostBatch, loss method.Loss) error {
	if loss.TaskMargin != 0 {
		for _, id := range b.task[:b.N] {
			if !l.slots.contiguous(id) {
				return fmt.Errorf("method %s sets a margin around each task, but the outputs of task %d lie among those of others, since they share classes: set its task margin to 0", l.options.Method.Info().Name, id)
			}
		}
	}
	if err := b.target(l.slots, loss.Seen); err != nil {
		return err
	}
	switch loss.Kind {
	case method.StoredLogits:
		b.refer(l.options.Model.Outputs())
	case method.Sigmoid:
		return l.teach(b)
	}
	return nil
}

// gradients computes the gradient of each row that has none, and reads what the host needs of all rows:
// their values and the inner products that are asked for.
func (l *Learner) gradients(asked inner) ([]float64, error) {
	for i := range l.rows { // compiled now: workers only look it up
		if _, err := l.programs.gradient(l.rows[i].loss); err != nil {
			return nil, err
		}
	}
	finished, wait := l.beginGradients()
	defer wait()
	l.readout.begin(len(l.rows), asked)
	for i := range l.rows {
		if err := finished(i); err != nil {
			return nil, err
		}
		l.readout.add(&l.rows[i])
	}
	m, err := l.readout.finish()
	if err != nil {
		return nil, err
	}
	for i := range l.rows {
		if r := &l.rows[i]; !r.counted {
			l.runStatistics(r.observed)
			r.counted = true
		}
	}
	return m, nil
}

// beginGradients begins with as many rows as there are workers. finished is to be called for the rows in
// order, and returns when that one is there; wait returns when no row is being computed any more.
func (l *Learner) beginGradients() (finished func(i int) error, wait func()) {
	one := func(i int) error {
		if l.rows[i].gradient != nil {
			return nil
		}
		return l.differentiate(&l.rows[i])
	}
	if l.workers < 2 {
		return one, func() {}
	}
	var busy sync.WaitGroup
	var next atomic.Int64
	done := make([]chan error, len(l.rows))
	for i := range done {
		done[i] = make(chan error, 1)
	}
	for range min(l.workers, len(l.rows)) {
		busy.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(done); i = int(next.Add(1)) - 1 {
				done[i] <- one(i)
			}
		})
	}
	return func(i int) error { return <-done[i] }, busy.Wait
}

// differentiate computes one row's gradient and loss.
func (l *Learner) differentiate(r *row) error {
	p, err := l.programs.gradient(r.loss)
	if err != nil {
		return err
	}
	if r.differentiated, err = l.gradientAt(l.theta, p, r.batch, r.loss); err != nil {
		return err
	}
	if !l.options.Method.Info().NeedsCross {
		return nil
	}
	half := (r.batch.N + 1) / 2
	for h := range r.halves {
		for i := range r.batch.N {
			r.batch.valid[i] = 0
			if (i < half) == (h == 0) || r.batch.N == 1 {
				r.batch.valid[i] = 1
			}
		}
		half, err := l.gradientAt(l.theta, p, r.batch, r.loss)
		if err != nil {
			return err
		}
		r.halves[h] = half.gradient
		program.Free(half.objective, half.statistics)
	}
	for i := range r.batch.N {
		r.batch.valid[i] = 1
	}
	return nil
}

// differentiated is what a gradient program gives for a batch; to be freed.
type differentiated struct {
	gradient   compute.Buffer // [parameters]
	objective  compute.Buffer // the loss, a scalar
	statistics compute.Buffer // of the batch; nil where the model has none
}

func (d *differentiated) free() {
	program.Free(d.gradient, d.objective, d.statistics)
	*d = differentiated{}
}

// gradientAt runs a gradient program on a batch that has been aimed.
func (l *Learner) gradientAt(theta compute.Buffer, p *program.Program, b *hostBatch, loss method.Loss) (d differentiated, err error) {
	in, done, err := b.upload(l.options.Backend, referenced(loss))
	if err != nil {
		return d, err
	}
	defer done()
	out, err := p.Call(append([]compute.Buffer{theta}, in...)...)
	if err != nil {
		return d, err
	}
	d.gradient, d.objective = out[0], out[1]
	if len(out) > 2 {
		d.statistics = out[2]
	}
	return d, nil
}
