package method

import (
	"cmp"
	"errors"
	"slices"
)

func init() {
	Register(Spec{
		Info: mirInfo,
		Params: []Param{
			{Name: "candidates", Default: 5.0, Doc: "number of candidates for each sample that is replayed, at least 1"},
			{Name: "gamma", Default: 0.1, Doc: "γ ≥ 0, length of the virtual step as a multiple of the gradient"},
			{Name: "best_loss", Default: false, Doc: "compare the loss after the virtual step with the sample's smallest loss so far"},
		},
		New: func(p Params) (Method, error) {
			m := mir{candidates: p.Float("candidates"), gamma: p.Float("gamma"), best: p.Bool("best_loss")}
			return m, errors.Join(within("candidates", m.candidates, 1, 1e6), within("gamma", m.gamma, 0, 1e6))
		},
	})
}

var mirInfo = Info{
	Name: "mir", Title: "MIR", Family: "scl",
	Rule:   "d = g_cur + g_mem, where the memory batch consists of those random candidates whose loss rises most from θ to θ − γg_cur",
	Source: "Aljundi et al., Online Continual Learning with Maximally Interfered Retrieval, NeurIPS 2019 (arXiv 1908.04742)",
	Cost:   "K(F+B) + 2F of the candidates", State: "none; with best_loss, the scores stored with the samples", SumW: "2; 1 while the memory is empty",
}

// mir replays what the step would make worse (docs/method.md §5.10). Its two gradients are summed, as they
// accumulate in the original.
type mir struct {
	candidates, gamma float64
	best              bool
}

func (mir) Info() Info { return mirInfo }

func (mir) Weights(s *Step, w []float64) (Outcome, error) {
	return weighRows(mirInfo, s, w, 1, 1)
}

// Replays picks among candidates; where all of them fit into the batch nothing is scored.
func (m mir) Replays(lab ReplayLab) ([]Replay, error) {
	store, k := lab.Memory(), lab.Batch()
	c := int(min(m.candidates*float64(k), float64(store.Len())))
	among := anyOf(everyIndex(store), c, lab.Rand())
	if len(among) <= k {
		return replay(Memory, among), nil
	}
	rise, err := m.interference(lab, among)
	if err != nil {
		return nil, err
	}
	order := everyIndex(store)[:len(among)]
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rise[b], rise[a]) })
	chosen := make([]int, k)
	for i := range chosen {
		chosen[i] = among[order[i]]
	}
	return replay(Memory, chosen), nil
}

// interference is how much each loss rises in the virtual step.
func (m mir) interference(lab ReplayLab, indices []int) ([]float64, error) {
	if err := lab.StepAhead(m.gamma); err != nil {
		return nil, err
	}
	samples := itemsAt(lab.Memory(), indices)
	after, err := lab.Losses(Ahead, samples)
	if err != nil {
		return nil, err
	}
	before, err := lab.Losses(Now, samples)
	if err != nil {
		return nil, err
	}
	for k, loss := range before {
		if m.best {
			loss = lowest(samples[k].Score, loss)
			lab.Memory().SetScore(indices[k], 1+loss)
		}
		after[k] -= loss
	}
	return after, nil
}

// lowest is the smaller of a loss and the one behind a score, which is 1 more; 0 stands for none.
func lowest(score, loss float64) float64 {
	if score == 0 {
		return loss
	}
	return min(score-1, loss)
}
