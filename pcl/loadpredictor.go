package pcl

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/optim"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// LoadPredictor returns a predictor with a network that [Trained.Save] wrote, and whose model is one of package
// [github.com/parallelcl/parallelcl/pcl/model]; for others there is [NewPredictor]. It predicts up to 128 samples at a
// time.
func LoadPredictor(b *backend.Backend, path string) (p *Predictor, err error) {
	t, err := LoadTrained(path)
	if err != nil {
		return nil, err
	}
	if err = fail.Tried(func() { p = newPredictor(b, fail.Or(model.ByKey(t.Model)), t, 128) }); err != nil {
		err = fmt.Errorf("pcl: load predictor: %s: %w", path, err)
	}
	return p, err
}

// NewPredictor returns a predictor with a trained network, whose model is m. It predicts up to batch samples at a time.
// It predicts what the network's learner predicts, up to the rounding of feature means to float32.
func NewPredictor(b *backend.Backend, m model.Model, t *Trained, batch int) (p *Predictor, err error) {
	if b == nil || m == nil || t == nil || batch < 1 || batch > 1<<20 {
		panic("pcl: NewPredictor needs a backend, a model, a network and a batch of 1 to 2²⁰")
	}
	if err = fail.Tried(func() { p = newPredictor(b, m, t, batch) }); err != nil {
		err = fmt.Errorf("pcl: new predictor: %w", err)
	}
	return p, err
}

func newPredictor(b *backend.Backend, m model.Model, t *Trained, batch int) *Predictor {
	fail.When(len(t.Tasks) == 0, "the network has no tasks, so that nothing is known of its outputs")
	fail.When(t.OtherRule, "method %s predicts by a rule of its own, which is not among what was saved", t.Method)
	theta, statistics := arrange(m.Layout(), t.Tensors, false)
	p := &Predictor{
		programs: NewPrograms(b), loss: t.Loss, steps: t.Steps, rule: t.comparing(m),
		scores: rehearsal.Loss{Cosine: t.Scores.Cosine, Frobenius: t.Scores.Frobenius, Sharpness: t.Scores.Sharpness},
	}
	defer p.programs.Close() // the predictor holds them
	p.roll = t.arrived(m.Outputs())
	spec := device.Spec{Model: m, Shared: m.Layout().Total, Batch: batch, Optimizer: optim.SGD{LR: 1}}
	return p.open(spec, program.ToDevice(b.Backend, theta, len(theta)), statistics)
}

// comparing returns what compares classes, if the logits do not.
func (t *Trained) comparing(m model.Model) rehearsal.Rule {
	if t.Means == nil {
		return nil
	}
	width := m.Layout().Params[m.Layout().Classifier].Dims[0]
	for i, mean := range t.Means.Values {
		if len(mean) != width || !fp.Finite(mean) {
			fail.Now("the mean of class %d has %d entries, or one that is not finite; want the model's %d features", t.Means.Classes[i], len(mean), width)
		}
	}
	return t.Means.Rule()
}
