package rehearsal

import "math"

// GMED is the part "gmed": it moves stored samples to where the step would hurt them more
// (docs/method.md §5.11). Samples stay in [0, 1], which the original does not say.
type GMED struct {
	Alpha *float64 `param:"alpha" default:"0.01" range:"[0,1e6]" doc:"α ≥ 0, length of an edit as a multiple of the pixel gradient; tune it for each data set (the authors took 0.1 for split MNIST)"`
	Beta  *float64 `param:"beta" default:"0.01" range:"[0,1e6]" doc:"β ≥ 0, how much an edit also lowers the loss"`
	Decay float64  `param:"decay" default:"0" range:"[0,1]" doc:"number in [0, 1], by what fraction each edit of a sample is shorter than its previous one"`
	Gamma *float64 `param:"gamma" default:"0.1" range:"[0,1e6]" doc:"γ ≥ 0, length of the virtual step as a multiple of the gradient"`
}

func init() {
	Register(Info{
		Name: "gmed", Title: "GMED",
		Does: "the memory batch is edited first: x ← x + (1−decay)^age·α∇ₓ[ℓ(x; θ−γg_cur) − ℓ(x; θ) " +
			"− βℓ(x; θ)]",
		Source: "Jin et al., Gradient-based Editing of Memory Examples for Online Task-free Continual Learning, NeurIPS " +
			"2021 (arXiv 2006.15294)",
		Cost: "2(F+B) for the edit", State: "none, apart from the edited samples in the memory",
		Axes: []string{"replay"},
	}, func() Part { return new(GMED) })
}

// Join sets the choice of what is replayed.
func (m *GMED) Join(r *Rehearsal) error {
	r.Draw, r.Limits.Inputs = m.draw, true
	return nil
}

// draw edits the batch that it draws.
func (m *GMED) draw(ctx ReplayContext) ([]int, error) {
	store := ctx.Memory()
	batch := store.Draw(ctx.Batch())
	if len(batch) == 0 {
		return nil, nil
	}
	if err := ctx.VirtualStep(*m.Gamma); err != nil {
		return nil, err
	}
	samples := store.Items(batch)
	ahead, err := ctx.PixelGradients(Virtual, samples)
	if err != nil {
		return nil, err
	}
	now, err := ctx.PixelGradients(Current, samples)
	if err != nil {
		return nil, err
	}
	for k, i := range batch {
		rate := *m.Alpha * math.Pow(1-m.Decay, float64(samples[k].Edits))
		editPixels(store, i, rate, func(p int) float64 {
			return float64(ahead[k][p]) - (1+*m.Beta)*float64(now[k][p])
		})
	}
	return batch, nil
}
