package rehearsal

// GMEDRelease is the part "gmed-release", which is what the published PCL tables probably call GMED
// (docs/method.md §5.11): its edits make samples easier for the parameters before the step, which
// are no longer in use. It makes twice as many updates as other methods. Samples stay in [0, 1],
// which the released code does not enforce.
type GMEDRelease struct {
	Alpha *float64 `param:"alpha" default:"0.003" range:"[0,1e6]" doc:"α ≥ 0, length of an edit as a multiple of the pixel gradient"`
}

func init() {
	Register(Info{
		Name: "gmed-release", Title: "GMED (release)",
		Does: "an optimiser step along g_cur; then x ← x − α∇ₓℓ(x; θ) on the memory batch, with the θ " +
			"before that step",
		Source: "the benchmark code of Lyu et al., arXiv 2407.08214: GMED of Jin et al., NeurIPS 2021, with descent " +
			"instead of ascent and a real step instead of the virtual one",
		Cost:  "K_c(F+B) + (F+B) for the edit; two updates per step",
		State: "none, apart from the edited samples in the memory",
		Axes:  []string{"replay"},
	}, func() Part { return new(GMEDRelease) })
}

// Join sets the choice of what is replayed.
func (m *GMEDRelease) Join(r *Rehearsal) error {
	r.Draw, r.DrawRemembers, r.Limits.Inputs = m.draw, true, true
	return nil
}

// draw makes the first of the two steps and edits the batch that it draws.
func (m *GMEDRelease) draw(ctx ReplayContext) ([]int, error) {
	store := ctx.Memory()
	batch := store.Draw(ctx.Batch())
	if len(batch) == 0 {
		return nil, nil
	}
	if err := ctx.Remember(); err != nil {
		return nil, err
	}
	if err := ctx.Update(); err != nil {
		return nil, err
	}
	gradients, err := ctx.PixelGradients(Remembered, store.Items(batch))
	if err != nil {
		return nil, err
	}
	for k, i := range batch {
		editPixels(store, i, -*m.Alpha, func(p int) float64 { return float64(gradients[k][p]) })
	}
	return batch, nil
}
