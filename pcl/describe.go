package pcl

import (
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/pcl/data"
)

// Features turn the samples of a learner, such as pictures, into what its model takes; see
// [Options.Features]. Package [github.com/parallelcl/parallelcl/pcl/features] has those of a
// pretrained network. A sample has the same features whatever is beside it. Several goroutines use
// them at once.
type Features interface {
	// Inputs is how many values a sample has, and Width how many its features have.
	Inputs() int
	Width() int
	// Of returns the features of samples, whose values lie in x one after another.
	Of(x []float32) ([]float32, error)
	// Forget removes what is kept of samples, wherever it is kept.
	Forget(x []float32) error
}

// inputs is how many values a sample has that comes from outside.
func (o *Options) inputs() int {
	if o.Features != nil {
		return o.Features.Inputs()
	}
	return o.Model.Inputs()
}

// checkFeatures returns an error if the model could not take the features.
func (o *Options) checkFeatures() error {
	switch f := o.Features; {
	case f == nil:
		return nil
	case f.Width() != o.Model.Inputs():
		return fmt.Errorf("features of %d values for a model of %d inputs", f.Width(), o.Model.Inputs())
	case o.Augment != nil:
		return errors.New("Options.Augment would change features, not samples; let the stream augment these")
	case o.compared() != nil:
		return errors.New("Options.Features are for classes; target values cannot follow the features")
	}
	return nil
}

// describe returns the features of samples, which are the samples themselves if f is nil.
func describe(f Features, x []float32) (out []float32, err error) {
	if f == nil || len(x) == 0 {
		return x, nil
	}
	err = guarded("Options.Features", func() error {
		out, err = f.Of(x)
		return err
	})
	if err == nil && len(out)*f.Inputs() != len(x)*f.Width() {
		err = fmt.Errorf("Options.Features returned %d values for %d samples of %d features",
			len(out), len(x)/f.Inputs(), f.Width())
	}
	return out, err
}

// fillWith fills a batch, whose X has room for features, with what fill writes into one with room
// for samples.
func fillWith(f Features, b *data.Batch, fill func(b *data.Batch) error) error {
	if f == nil {
		return fill(b)
	}
	width := f.Inputs()
	outside := data.Batch{X: make([]float32, len(b.Class)*width), Class: b.Class, N: b.N}
	end := fill(&outside) // may be io.EOF with a last batch
	b.Class, b.N, b.Repeat = outside.Class, outside.N, outside.Repeat
	if outside.N < 1 || outside.N*width > len(outside.X) { // which the caller refuses
		b.X = nil
		return end
	}
	x, err := describe(f, outside.X[:outside.N*width])
	if err != nil {
		return err
	}
	b.X = x
	return end
}
