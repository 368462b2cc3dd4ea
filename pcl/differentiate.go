package pcl

import (
	"fmt"

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
		for i := range l.rows {
			if err := l.differentiate(&l.rows[i]); err != nil {
				return nil, err
			}
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
	needsGram := l.options.Method.Info().NeedsGram
	if needsGram {
		l.gram.begin(len(l.rows))
	}
	for i := range l.rows {
		if l.rows[i].gradient == nil {
			if err := l.differentiate(&l.rows[i]); err != nil {
				return nil, err
			}
		}
		if needsGram {
			l.gram.add(l.rows[i].gradient)
		}
	}
	if !needsGram {
		return nil, nil
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

// differentiate computes one stream's gradient and loss.
func (l *Learner) differentiate(r *row) error {
	p, err := l.programs.gradient(r.loss)
	if err != nil {
		return err
	}
	if r.gradient, r.value, err = l.gradientAt(l.theta, p, r.batch, r.loss, true); err != nil {
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
		if r.halves[h], _, err = l.gradientAt(l.theta, p, r.batch, r.loss, false); err != nil {
			return err
		}
	}
	for i := range r.batch.N {
		r.batch.valid[i] = 1
	}
	return nil
}

// gradientAt runs a gradient program on a batch that has been aimed. With record, the batch's
// statistics go into the running ones.
func (l *Learner) gradientAt(theta compute.Buffer, p *program.Program, b *hostBatch, loss method.Loss, record bool) (compute.Buffer, float64, error) {
	in, done, err := b.upload(l.options.Backend, referenced(loss))
	if err != nil {
		return nil, 0, err
	}
	defer done()
	out, err := p.Call(append([]compute.Buffer{theta}, in...)...)
	if err != nil {
		return nil, 0, err
	}
	defer program.Free(out[1:]...)
	if record && len(out) > 2 {
		if err := l.runStatistics(out[2]); err != nil {
			program.Free(out[0])
			return nil, 0, err
		}
	}
	var value [1]float32
	if err := program.ToHost(value[:], out[1]); err != nil {
		program.Free(out[0])
		return nil, 0, err
	}
	return out[0], float64(value[0]), nil
}
