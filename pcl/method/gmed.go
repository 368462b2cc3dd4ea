package method

import (
	"errors"
	"math"
)

func init() {
	Register(Spec{
		Info: gmedInfo,
		Params: []Param{
			{Name: "alpha", Default: 0.01, Doc: "α ≥ 0, length of an edit as a multiple of the pixel gradient; tune it for each data set (the authors took 0.1 for split MNIST)"},
			{Name: "beta", Default: 0.01, Doc: "β ≥ 0, how much an edit also lowers the loss"},
			{Name: "decay", Default: 0.0, Doc: "number in [0, 1], by what fraction each edit of a sample is shorter than its previous one"},
			{Name: "gamma", Default: 0.1, Doc: "γ ≥ 0, length of the virtual step as a multiple of the gradient"},
		},
		New: func(p Params) (Method, error) {
			m := gmed{alpha: p.Float("alpha"), beta: p.Float("beta"), decay: p.Float("decay"), gamma: p.Float("gamma")}
			return m, errors.Join(within("alpha", m.alpha, 0, 1e6), within("beta", m.beta, 0, 1e6), within("decay", m.decay, 0, 1), within("gamma", m.gamma, 0, 1e6))
		},
	})
}

var gmedInfo = Info{
	Name: "gmed", Title: "GMED", Family: "scl",
	Rule:   "d = ½(g_cur + g_mem), where the memory batch is edited first: x ← x + (1−decay)^age·α∇ₓ[ℓ(x; θ−γg_cur) − ℓ(x; θ) − βℓ(x; θ)]",
	Source: "Jin et al., Gradient-based Editing of Memory Examples for Online Task-free Continual Learning, NeurIPS 2021 (arXiv 2006.15294)",
	Cost:   "K(F+B) + 2(F+B) for the edit", State: "none, apart from the edited samples in the memory", SumW: "1",
}

// gmed moves stored samples to where the step would hurt them more (docs/method.md §5.11). Samples stay in
// [0, 1], which the original does not say.
type gmed struct{ alpha, beta, decay, gamma float64 }

func (gmed) Info() Info { return gmedInfo }

func (gmed) Weights(s *Step, w []float64) (Outcome, error) {
	return weighRows(gmedInfo, s, w, 0.5, 0.5)
}

// Replays edits the batch that it draws.
func (m gmed) Replays(lab ReplayLab) ([]Replay, error) {
	store := lab.Memory()
	batch := store.Draw(lab.Batch())
	if len(batch) == 0 {
		return nil, nil
	}
	if err := lab.StepAhead(m.gamma); err != nil {
		return nil, err
	}
	samples := itemsAt(store, batch)
	ahead, err := lab.PixelGradients(Ahead, samples)
	if err != nil {
		return nil, err
	}
	now, err := lab.PixelGradients(Now, samples)
	if err != nil {
		return nil, err
	}
	for k, i := range batch {
		rate := m.alpha * math.Pow(1-m.decay, float64(samples[k].Edits))
		editPixels(store, i, rate, func(p int) float64 {
			return float64(ahead[k][p]) - (1+m.beta)*float64(now[k][p])
		})
	}
	return replay(Memory, batch), nil
}
