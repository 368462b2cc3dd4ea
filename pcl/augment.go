package pcl

import (
	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
)

// varied returns the batch that a task's row trains on: the one that the stream delivered or, with augmentation, a changed
// copy of it. The memory takes samples as they were delivered.
func (s *step) varied(t *attached) (*device.Batch, error) {
	if s.options.Augment == nil {
		return t.current, nil
	}
	if t.varied == nil {
		var err error
		if t.varied, err = s.newBatchOn(t.id); err != nil {
			return nil, err
		}
	}
	t.varied.Copy(t.current)
	return t.varied, s.augment(t.varied, t.id)
}

// augment changes the samples of a row's batch.
func (s *step) augment(b *device.Batch, id int) (err error) {
	f := s.options.Augment
	if f == nil {
		return nil
	}
	return guarded("Options.Augment", func() (err error) {
		rng := seed.New(s.options.Seed, "augment", s.steps, id)
		width, inputs := len(b.X)/len(b.Class), s.options.Model.Inputs()
		for i := range b.N {
			f(rng.Rand, b.X[i*width:i*width+inputs])
		}
		return nil
	})
}
