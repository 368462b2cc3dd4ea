package pcl

import (
	"fmt"

	"github.com/gomlx/compute"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// step is the state of one step while it is being made.
type step struct {
	*Learner
	rows    []row // the memory's rows first, then the tasks' rows in order of arrival
	kept    []int // indices of the rows whose loss and gradient are finite
	report  *StepReport
	touched bool       // whether something has changed that cannot be undone
	toward  *aggregate // what edits aim at; nil if this step does not edit the memory
}

// row is one stream in one step: its batch, its loss, and the gradient of that loss.
type row struct {
	id      int
	batch   *device.Batch // nil for the row of a penalty
	indices []int         // the places in the memory of a replayed row's samples; nil for tasks
	loss    rehearsal.Loss
	device.Gradient
	observed bool              // whether the running statistics include those of its batch
	halves   [2]compute.Buffer // gradients of the two halves of the batch, for methods that need them
}

// samples is how many samples the row has.
func (r *row) samples() int {
	if r.batch == nil {
		return 0
	}
	return r.batch.N
}

func (r *row) free() {
	r.Gradient.Free()
	program.Free(r.halves[:]...)
	r.observed, r.halves = false, [2]compute.Buffer{}
}

// gradientsKept returns the gradients of the rows that take part.
func (s *step) gradientsKept() []compute.Buffer {
	out := make([]compute.Buffer, len(s.kept))
	for k, i := range s.kept {
		out[k] = s.rows[i].Flat
	}
	return out
}

// forget frees the gradients of all rows.
func (s *step) forget() {
	for i := range s.rows {
		s.rows[i].free()
	}
}

// along returns one gradient that stands for all the given rows: over the shared parameters it is the given
// direction, over the private ones the plain sum of the rows.
func (s *step) along(direction []float64, rows []int) compute.Buffer {
	total := make([]float32, s.programs.Total())
	for p, x := range direction {
		total[p] = float32(x)
	}
	for _, i := range rows {
		g := program.Read[float32](s.rows[i].Flat, len(total))
		for p := len(direction); p < len(total); p++ {
			total[p] += g[p]
		}
	}
	return program.ToDevice(s.options.Backend, total, len(total))
}

// taskRows gathers a row for each task that takes part in the step.
func (s *step) taskRows() (rows []row) {
	for _, t := range s.tasks.present() {
		if t.ready {
			rows = append(rows, row{id: t.id, batch: s.varied(t), loss: s.lossOf(t.id)})
		}
	}
	return rows
}

// varied returns the batch that a task's row trains on: the one that the stream delivered or, with augmentation, a changed
// copy of it. The memory takes samples as they were delivered.
func (s *step) varied(t *attached) *device.Batch {
	if s.options.Augment == nil {
		return t.current
	}
	if t.varied == nil {
		t.varied = s.newBatchOn(t.id)
	}
	t.varied.Gather(t.current.Items())
	s.augment(t.varied, t.id)
	return t.varied
}

// augment changes the samples of a row's batch.
func (s *step) augment(b *device.Batch, id int) {
	f := s.options.Augment
	if f == nil {
		return
	}
	defer fail.Foreign("Options.Augment panicked")
	rng := seed.New(s.options.Seed, "augment", s.steps, id)
	width, inputs := len(b.X)/len(b.Class), s.options.Model.Inputs()
	for i := range b.N {
		f(rng.Rand, b.X[i*width:i*width+inputs])
	}
}

// replays says which samples of the memory are replayed in this step.
func (s *step) replays() []rehearsal.Replay {
	if r, ok := method.As[rehearsal.Replayer](s.options.Method); ok {
		return fail.Or(r.Replays(lab{s.Learner, s}))
	}
	return []rehearsal.Replay{{ID: method.Memory, Indices: s.memory.Draw(s.options.Batch)}}
}

// memoryRows gathers the rows that are replayed from the memory: the samples that the method chooses or, if it
// does not choose, one batch drawn at random.
func (s *step) memoryRows() (rows []row) {
	for _, replay := range s.replays() {
		if len(replay.Indices) == 0 {
			continue
		}
		if replay.ID > method.Memory || replay.ID <= rehearsal.PenaltyRow {
			panic(fmt.Sprintf("samples replayed as row %d; want 0 or a negative number above %d", replay.ID, rehearsal.PenaltyRow))
		}
		i := len(rows) // rows without samples need no batch
		if i == len(s.replayed) {
			s.replayed = append(s.replayed, s.newBatchOn(0))
		}
		b := s.replayed[i]
		b.Gather(s.memory.Items(replay.Indices))
		s.augment(b, replay.ID)
		rows = append(rows, row{id: replay.ID, batch: b, indices: replay.Indices, loss: s.lossOf(replay.ID)})
	}
	return rows
}

// aimAll sets, for each row, what its batch should predict.
func (s *step) aimAll(rows []row) {
	for _, r := range rows {
		s.aim(r.batch, r.loss)
	}
}
