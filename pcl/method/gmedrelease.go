package method

func init() {
	Register(Spec{
		Info:   gmedReleaseInfo,
		Params: []Param{{Name: "alpha", Default: 0.003, Doc: "α ≥ 0, length of an edit as a multiple of the pixel gradient"}},
		New: func(p Params) (Method, error) {
			m := gmedRelease{p.Float("alpha")}
			return m, within("alpha", m.alpha, 0, 1e6)
		},
	})
}

var gmedReleaseInfo = Info{
	Name: "gmed-release", Title: "GMED (release)", Family: "scl",
	Rule:   "an optimiser step along g_cur; then x ← x − α∇ₓℓ(x; θ) on a memory batch, with the θ before that step; then a second step along ½(g_cur + g_mem)",
	Source: "the benchmark code of Lyu et al., arXiv 2407.08214: GMED of Jin et al., NeurIPS 2021, with descent instead of ascent and a real step instead of the virtual one",
	Cost:   "(K+K_c)(F+B) + (F+B) for the edit; two updates per step", State: "none, apart from the edited samples in the memory", SumW: "1",
}

// gmedRelease is what the published PCL tables probably call GMED (docs/method.md §5.11): its edits make
// samples easier for the parameters before the step, which the step has replaced by then. It makes twice as
// many updates as other methods. Samples stay in [0, 1], which the released code does not enforce.
type gmedRelease struct{ alpha float64 }

func (gmedRelease) Info() Info { return gmedReleaseInfo }

func (gmedRelease) Weights(s *Step, w []float64) (Outcome, error) {
	return weighRows(gmedReleaseInfo, s, w, 0.5, 0.5)
}

// Replays makes the first of the two steps and edits the batch that it draws.
func (m gmedRelease) Replays(lab ReplayLab) ([]Replay, error) {
	store := lab.Memory()
	batch := store.Draw(lab.Batch())
	if len(batch) == 0 {
		return nil, nil
	}
	if err := lab.Remember(); err != nil {
		return nil, err
	}
	if err := lab.Update(); err != nil {
		return nil, err
	}
	gradients, err := lab.PixelGradients(Remembered, itemsAt(store, batch))
	if err != nil {
		return nil, err
	}
	for k, i := range batch {
		editPixels(store, i, -m.alpha, func(p int) float64 { return float64(gradients[k][p]) })
	}
	return replay(Memory, batch), nil
}
