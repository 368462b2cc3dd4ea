package pcl

import (
	"errors"
	"fmt"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/device"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// LoadPredictor returns a predictor with a network that [Network.Save] wrote, and whose model is
// one of package [github.com/parallelcl/parallelcl/pcl/model]; for others there is [NewPredictor].
// It predicts up to 128 samples at a time.
func LoadPredictor(b *backend.Backend, path string) (p *Predictor, err error) {
	t, err := LoadNetwork(path)
	if err != nil {
		return nil, err
	}
	m, err := model.ByKey(t.Model)
	if err == nil {
		p, err = newPredictor(b, m, t, 128)
	}
	if err != nil {
		err = fmt.Errorf("pcl: load predictor: %s: %w", path, err)
	}
	return p, err
}

// NewPredictor returns a predictor with a trained network, whose model is m. It predicts up to
// batch samples at a time. It predicts what the network's learner predicts, up to the rounding of
// feature means to float32. Its programs stay until the backend is closed, so that a further
// predictor with an equal model and batch compiles nothing.
func NewPredictor(b *backend.Backend, m model.Model, t *Network, batch int) (p *Predictor, err error) {
	if b == nil || m == nil || t == nil || batch < 1 || batch > 1<<20 {
		panic("pcl: NewPredictor needs a backend, a model, a network and a batch of 1 to 2²⁰")
	}
	if p, err = newPredictor(b, m, t, batch); err != nil {
		err = fmt.Errorf("pcl: new predictor: %w", err)
	}
	return p, err
}

func newPredictor(b *backend.Backend, m model.Model, t *Network, batch int) (*Predictor, error) {
	if len(t.Tasks) == 0 {
		return nil, errors.New("the network has no tasks, so that nothing is known of its outputs")
	}
	if t.OtherScorer {
		return nil, fmt.Errorf("method %s predicts by a rule of its own, which is not among what was saved", t.Method)
	}
	theta, statistics, err := arrange(m.Layout(), t.Tensors, false)
	if err != nil {
		return nil, err
	}
	rule, err := t.comparing(m)
	if err != nil {
		return nil, err
	}
	p := &Predictor{
		programs: NewPrograms(b), method: t.Method, image: t.Image, loss: t.Loss, steps: t.Steps, rule: rule,
		scores: rehearsal.Loss{Cosine: t.Scores.Cosine, Frobenius: t.Scores.Frobenius, Sharpness: t.Scores.Sharpness},
	}
	defer p.programs.Close() // the predictor holds them
	if p.registry, err = t.arrived(m.Outputs()); err != nil {
		return nil, err
	}
	spec := device.Spec{Model: m, Batch: batch}
	a, err := answeringOn(b)
	if err != nil {
		return nil, err
	}
	onDevice, err := a.share(theta, m.Layout())
	if err != nil {
		return nil, err
	}
	return p.open(a, spec, onDevice, statistics)
}

// comparing returns what compares classes, if the logits do not.
func (t *Network) comparing(m model.Model) (rehearsal.Scorer, error) {
	if t.Means == nil {
		return nil, nil
	}
	width := m.Layout().Params[m.Layout().Classifier].Dims[0]
	for i, mean := range t.Means.Values {
		if len(mean) != width || !fp.Finite(mean) {
			return nil, fmt.Errorf(
				"the mean of class %d has %d entries, or one that is not finite; want the model's %d features",
				t.Means.Classes[i], len(mean), width)
		}
	}
	return t.Means.Scorer(), nil
}
