package pcl

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/graphs"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// taskRows gathers a row for each task that takes part in the step.
func (s *step) taskRows() (rows []row, err error) {
	for _, t := range s.present() {
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

// lossOf returns the loss of a row in this step. There is no teacher before the method has remembered one.
func (l *Learner) lossOf(id int) rehearsal.Loss {
	loss := l.options.lossOf(id)
	if l.others.remembered == nil {
		loss.Teacher, loss.Temperature = 0, 0
	}
	return loss
}

// memoryRows gathers the rows that are replayed from the memory: the samples that the method chooses or, if it
// does not choose, one batch drawn at random.
func (s *step) memoryRows() ([]row, error) {
	replays, err := s.replays()
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, replay := range replays {
		if len(replay.Indices) == 0 {
			continue
		}
		i := len(rows) // rows without samples need no batch
		if i == len(s.replayed) {
			b, err := s.newBatch()
			if err != nil {
				return nil, err
			}
			s.replayed = append(s.replayed, b)
		}
		b := s.replayed[i]
		b.Gather(s.memory.Items(replay.Indices))
		if s.options.Augment != nil {
			err = s.augment(b, replay.ID)
		} else {
			err = s.mirror.Send(s.tables, s.memory, b, replay.Indices)
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{id: replay.ID, batch: b, indices: replay.Indices, loss: s.lossOf(replay.ID)})
	}
	return rows, nil
}

// replays says which samples of the memory are replayed in this step.
func (s *step) replays() ([]rehearsal.Replay, error) {
	if r, ok := method.As[rehearsal.Replayer](s.options.Method); ok {
		before := s.memory.Changes()
		replays, err := r.Replays(replaying{lab{s.Learner}, s})
		if err != nil {
			return nil, err
		}
		if err := s.checkStored(before); err != nil {
			return nil, err
		}
		return replays, s.checkReplays(replays)
	}
	return []rehearsal.Replay{{ID: method.Memory, Indices: s.memory.Draw(s.options.Batch)}}, nil
}

// checkReplays returns an error if what a method chose to replay cannot be rows of the memory: a positive id would pass
// for that of a task.
func (s *step) checkReplays(replays []rehearsal.Replay) error {
	for _, r := range replays {
		if r.ID > method.Memory || r.ID <= rehearsal.PenaltyRow {
			return fmt.Errorf("%s replays samples as row %d: want 0 or a negative id above %d", s.byMethod(), r.ID, rehearsal.PenaltyRow)
		}
		if n := len(r.Indices); n > s.options.Batch {
			return fmt.Errorf("%s replays %d samples in row %d: want at most %d, the size of a batch", s.byMethod(), n, r.ID, s.options.Batch)
		}
		for _, i := range r.Indices {
			if i < 0 || i >= s.memory.Len() {
				return fmt.Errorf("%s replays sample %d in row %d: the memory has %d samples, which count from 0", s.byMethod(), i, r.ID, s.memory.Len())
			}
		}
	}
	return nil
}

// aimAll sets, for each row, what its batch should predict.
func (s *step) aimAll() error {
	for _, r := range s.rows {
		if err := s.aim(r.batch, r.loss); err != nil {
			return err
		}
	}
	return nil
}

// aim sets what a batch should predict under a loss: the right output of each sample, the outputs that compete
// with it, and the reference values if the loss needs any.
func (l *Learner) aim(b *device.Batch, loss rehearsal.Loss) error {
	if err := loss.Validate(); err != nil {
		return fmt.Errorf("%s has %w", l.byMethod(), err)
	}
	if err := l.separable(b, loss); err != nil {
		return err
	}
	if err := b.Aim(l.heads, loss); err != nil {
		return err
	}
	switch {
	case loss.Adjust > 0:
		b.Adjust(l.adjustments(loss.Adjust))
	case loss.Kind == rehearsal.StoredLogits, loss.Distill > 0:
		b.Refer(l.options.Model.Outputs())
	case loss.Kind == rehearsal.Sigmoid, loss.Teacher > 0:
		return l.teach(b, loss)
	}
	return nil
}

// separable returns an error if a loss tells a task's outputs from those of others where they lie among each other.
func (l *Learner) separable(b *device.Batch, loss rehearsal.Loss) error {
	if !loss.Own && loss.TaskMargin == 0 {
		return nil
	}
	for _, id := range b.Task[:b.N] {
		if !l.heads.Contiguous(id) {
			return l.inseparable(loss, fmt.Sprintf("the outputs of task %d", id))
		}
	}
	return nil
}

// fitsMethod returns an error if the method could not be trained on a task, or on its samples in the memory. together says
// whether the task's outputs lie together, with none of another task's among them.
func (l *Learner) fitsMethod(task int, together bool) error {
	for _, id := range []int{task, method.Memory} {
		if loss := l.options.lossOf(id); (loss.Own || loss.TaskMargin != 0) && !together {
			return l.inseparable(loss, "its outputs")
		}
	}
	return nil
}

func (l *Learner) inseparable(loss rehearsal.Loss, outputs string) error {
	does, instead := "sets a margin around each task", "set its task margin to 0"
	if loss.Own {
		does, instead = "lets only the classes of a row's own task compete", "use it for tasks that have no class in common, or leave it out"
	}
	return fmt.Errorf("%s %s, but %s lie among those of others, since they share classes: %s", l.byMethod(), does, outputs, instead)
}

// differentiate puts the memory's rows, and that of a penalty, in front of the tasks' rows and computes the gradient
// of each row and, where the method asks for it, their Gram matrix. If the method chooses what is replayed, the tasks' gradients
// are computed before it chooses, because it may want to use them.
func (s *step) differentiate() error {
	_, chooses := method.As[rehearsal.Replayer](s.options.Method)
	if chooses {
		norms, err := s.gradients(graphs.Norms)
		if err != nil {
			return err
		}
		s.keepFinite(norms)
	}
	var replayed []row
	if chooses || s.memory.Len() > 0 {
		var err error
		if replayed, err = s.memoryRows(); err != nil {
			return err
		}
		for _, r := range replayed {
			if err := s.aim(r.batch, r.loss); err != nil {
				return err
			}
		}
	}
	penalty, err := s.penaltyRow()
	if err != nil {
		return err
	}
	s.rows = slices.Concat(replayed, penalty, s.rows)
	gram, err := s.gradients(s.products())
	if err != nil {
		return err
	}
	s.keepFinite(gram)
	s.reportKept(gram)
	return nil
}

// gradients computes the gradient of each row that has none yet, and brings to the host what it needs of all
// rows: the losses, the statistics of the batches, and the inner products that are asked for.
func (s *step) gradients(asked graphs.Products) (gram []float64, err error) {
	for i := range s.rows {
		if r := &s.rows[i]; r.batch == nil && r.Flat == nil {
			if err := s.penalise(r); err != nil {
				return nil, err
			}
		}
	}
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
			s.network.observe(r.Statistics)
			r.observed = true
		}
	}
	return gram, nil
}

// differentiateRows computes the losses and gradients of rows with one kind of loss and, if the method needs them, the gradients
// of the two halves of each batch. theta is on the client of the set.
func (l *Learner) differentiateRows(set *graphs.Set, theta []compute.Buffer, rows ...*row) error {
	batches := make([]*device.Batch, len(rows))
	for i, r := range rows {
		batches[i] = r.batch
	}
	gradients, err := device.Differentiate(set, theta, rows[0].loss, batches...)
	if err != nil {
		return err
	}
	for i, r := range rows {
		r.Gradient = gradients[i]
	}
	if !l.options.Method.Info().NeedsCross {
		return nil
	}
	for _, r := range rows {
		if err := l.differentiateHalves(set, theta, r); err != nil {
			return err
		}
	}
	return nil
}

func (l *Learner) differentiateHalves(set *graphs.Set, theta []compute.Buffer, r *row) error {
	defer r.batch.All()
	for h := range r.halves {
		if r.batch.Half(h); l.options.Weighted && !r.batch.Weighs() {
			r.batch.All() // half a batch without weight has no gradient
		}
		g, err := l.gradientAt(set, theta, r.batch, r.loss)
		if err != nil {
			return err
		}
		r.halves[h], g.Flat = g.Flat, nil
		g.Free()
	}
	return nil
}

// gradientAt computes the gradient at θ of a batch whose targets have been set by aim.
func (l *Learner) gradientAt(set *graphs.Set, theta []compute.Buffer, b *device.Batch, loss rehearsal.Loss) (device.Gradient, error) {
	all, err := device.Differentiate(set, theta, loss, b)
	if err != nil {
		return device.Gradient{}, err
	}
	return all[0], nil
}
