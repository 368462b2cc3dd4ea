package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// taskRows gathers a row for each task that takes part in the step.
func (s *step) taskRows() (rows []row, err error) {
	for _, t := range s.tasks.running.present() {
		if t.ready {
			batch, err := s.varied(t)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row{id: t.id, Row: device.Row{Batch: batch, Loss: s.targets.lossOf(t.id)}})
		}
	}
	return rows, nil
}

// varied returns the batch that a task's row trains on: the one that the stream delivered or, with
// augmentation, a changed copy of it. The memory takes samples as they were delivered.
func (s *step) varied(t *attached) (*device.Batch, error) {
	if s.options.Augment == nil {
		return t.current, nil
	}
	if t.varied == nil {
		var err error
		if t.varied, err = s.network.programs.Lane(t.id).NewBatch(); err != nil {
			return nil, err
		}
	}
	t.varied.Gather(t.current.Items())
	if err := s.augment(t.varied, t.id); err != nil {
		return nil, err
	}
	return t.varied, nil
}

// augment changes the samples of a row's batch.
func (s *step) augment(b *device.Batch, id int) (err error) {
	f := s.options.Augment
	if f == nil {
		return nil
	}
	defer recovered(&err, "Options.Augment panicked")
	rng := seed.New(s.options.Seed, "augment", s.report.Step, id)
	// of each sample, only the inputs are augmented; the rest of its width stays as it is
	width, inputs := len(b.X)/len(b.Class), s.options.Model.Inputs()
	for i := range b.N {
		f(rng.Rand, b.X[i*width:i*width+inputs])
	}
	return nil
}

// replays says which samples of the memory are replayed in this step.
func (s *step) replays() ([]rehearsal.Replay, error) {
	if r := s.method.Replayer; r != nil {
		return r.Replays(s.context())
	}
	return []rehearsal.Replay{{ID: method.MemoryID, Indices: s.memory.Draw(s.options.Batch)}}, nil
}

// memoryRows gathers the rows that are replayed from the memory: the samples that the method
// chooses or, if it does not choose, one batch drawn at random.
func (s *step) memoryRows() (rows []row, err error) {
	replays, err := s.replays()
	if err != nil {
		return nil, err
	}
	for _, replay := range replays {
		if len(replay.Indices) == 0 {
			continue
		}
		if replay.ID > method.MemoryID || replay.ID <= rehearsal.PenaltyID {
			// pcl/guard.go makes it an error
			panic(fmt.Sprintf("samples replayed as row %d; want 0 or a negative number above %d",
				replay.ID, rehearsal.PenaltyID))
		}
		if err := s.checkReplay(replay.Indices); err != nil {
			return nil, err
		}
		// counted by rows, so that replays without samples take no batch
		b, err := s.scratch.replay(len(rows), s.network)
		if err != nil {
			return nil, err
		}
		b.Gather(s.memory.Items(replay.Indices))
		if err := s.augment(b, replay.ID); err != nil {
			return nil, err
		}
		own := device.Row{Batch: b, Loss: s.targets.lossOf(replay.ID)}
		rows = append(rows, row{id: replay.ID, Row: own, indices: replay.Indices})
	}
	return rows, nil
}

// checkReplay refuses samples that a method, or a part of its rehearsal, cannot have drawn from the
// memory.
func (s *step) checkReplay(indices []int) error {
	if len(indices) > s.options.Batch {
		return fmt.Errorf("the method's Draw (or Replays) returned %d indices; want at most the batch of %d",
			len(indices), s.options.Batch)
	}
	for _, i := range indices {
		if i < 0 || i >= s.memory.Len() {
			return fmt.Errorf("the method's Draw (or Replays) returned index %d; the memory has %d samples",
				i, s.memory.Len())
		}
	}
	return nil
}

// setTargets sets, for each row, what its batch should predict.
func (s *step) setTargets(rows []row) error {
	for _, r := range rows {
		if err := s.targets.set(r.Batch, r.Loss); err != nil {
			return err
		}
	}
	return nil
}
