package pcl

import (
	"errors"
	"math/rand/v2"

	"github.com/parallelcl/parallelcl/internal/seed"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
)

// Augment changes the inputs of one sample, x, before a step trains on it: a random crop, a flip, noise. It must not keep
// x. What it draws from rng follows from the seed, the step and the row, so that a run can be repeated and resumed.
type Augment func(rng *rand.Rand, x []float32)

// validateAugment returns an error if samples would be edited that are not the stored ones.
func (o Options) validateAugment() error {
	if o.Augment != nil && o.Edit.On() {
		return errors.New("memory editing moves the stored samples by what was computed for the augmented ones: turn editing or augmentation off")
	}
	return nil
}

// varied returns the batch that a task's row trains on: the one that the stream delivered or, with augmentation, a changed
// copy of it. The memory takes samples as they were delivered.
func (s *step) varied(t *task) (*device.Batch, error) {
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
		rng := seed.New(s.options.Seed, "augment", s.step, id)
		width, inputs := len(b.X)/len(b.Class), s.options.Model.Inputs()
		for i := range b.N {
			f(rng.Rand, b.X[i*width:i*width+inputs])
		}
		return nil
	})
}
