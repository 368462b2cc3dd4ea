package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// replays says which samples of the memory are replayed in this step.
func (s *step) replays() ([]rehearsal.Replay, error) {
	if r, ok := method.As[rehearsal.Replayer](s.options.Method); ok {
		return r.Replays(lab{s.Learner, s})
	}
	return []rehearsal.Replay{{ID: method.Memory, Indices: s.memory.Draw(s.options.Batch)}}, nil
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
		if replay.ID > method.Memory || replay.ID <= rehearsal.PenaltyRow {
			panic(fmt.Sprintf("samples replayed as row %d; want 0 or a negative number above %d", replay.ID, rehearsal.PenaltyRow))
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
		if err := s.augment(b, replay.ID); err != nil {
			return nil, err
		}
		rows = append(rows, row{id: replay.ID, batch: b, indices: replay.Indices, loss: s.lossOf(replay.ID)})
	}
	return rows, nil
}
