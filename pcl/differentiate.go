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
		if err := l.gradients(nil); err != nil {
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
	if !l.options.Method.Info().NeedsGram {
		return nil, l.gradients(nil)
	}
	l.gram.begin(len(l.rows))
	if err := l.gradients(l.gram.add); err != nil {
		return nil, err
	}
	gram := make([]float64, len(l.rows)*len(l.rows))
	return gram, l.gram.finish(gram)
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

// gradients computes the gradient of each row that has none, and shows all rows' to each (if not nil) in
// their order, each as soon as it is there.
func (l *Learner) gradients(each func(compute.Buffer)) error {
	for i := range l.rows { // compiled now: workers only look it up
		if _, err := l.programs.gradient(l.rows[i].loss); err != nil {
			return err
		}
	}
	finished, wait := l.beginGradients()
	defer wait()
	for i := range l.rows {
		if err := finished(i); err != nil {
			return err
		}
		r := &l.rows[i]
		if r.statistics != nil {
			if err := l.runStatistics(r.statistics); err != nil {
				return err
			}
			program.Free(r.statistics)
			r.statistics = nil
		}
		if each != nil {
			each(r.gradient)
		}
	}
	return nil
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
		program.Free(half.statistics)
	}
	for i := range r.batch.N {
		r.batch.valid[i] = 1
	}
	return nil
}

// differentiated is what a gradient program gives for a batch; its buffers are to be freed.
type differentiated struct {
	gradient   compute.Buffer // [parameters]
	statistics compute.Buffer // of the batch, until they are in the running ones; nil where the model has none
	value      float64        // of the loss
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
	defer program.Free(out[1])
	d.gradient = out[0]
	if len(out) > 2 {
		d.statistics = out[2]
	}
	var value [1]float32
	if err := program.ToHost(value[:], out[1]); err != nil {
		program.Free(d.gradient, d.statistics)
		return differentiated{}, err
	}
	d.value = float64(value[0])
	return d, nil
}
