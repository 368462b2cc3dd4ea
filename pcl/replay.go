package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// replaying is the lab of a method that chooses which samples a step replays.
type replaying struct {
	lab
	s *step
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
