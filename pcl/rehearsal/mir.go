package rehearsal

import (
	"cmp"
	"math"
	"slices"
)

// MIR is the part "mir": it replays what the step would make worse (docs/method.md §5.10).
type MIR struct {
	Candidates float64  `param:"candidates" default:"5" range:"[1,1e6]" doc:"number of candidates for each sample that is replayed, at least 1"`
	Gamma      *float64 `param:"gamma" default:"0.1" range:"[0,1e6]" doc:"γ ≥ 0, length of the virtual step as a multiple of the gradient"`
	BestLoss   bool     `param:"best_loss" default:"false" doc:"compare the loss after the virtual step with the sample's smallest loss so far"`
}

func init() {
	Register(Info{
		Name: "mir", Title: "MIR",
		Does: "the memory batch consists of those random candidates whose loss rises most from θ to θ − γg_cur",
		Source: "Aljundi et al., Online Continual Learning with Maximally Interfered Retrieval, NeurIPS 2019 (arXiv " +
			"1908.04742)",
		Cost: "2F of the candidates", State: "none; with best_loss, the scores stored with the samples",
		Axes: []string{"replay"},
	}, func() Part { return new(MIR) })
}

// Join sets the choice of what is replayed.
func (m *MIR) Join(r *Rehearsal) error {
	r.Draw, r.DrawScores = m.draw, m.BestLoss
	return nil
}

// draw picks among candidates; where all of them fit into the batch nothing is scored.
func (m *MIR) draw(ctx ReplayContext) ([]int, error) {
	store, k := ctx.Memory(), ctx.Batch()
	c := int(min(m.Candidates*float64(k), float64(store.Len())))
	among := anyOf(everyIndex(store), c, ctx.Rand())
	if len(among) <= k {
		return among, nil
	}
	rise, err := m.interference(ctx, among)
	if err != nil {
		return nil, err
	}
	order := everyIndex(store)[:len(among)]
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rise[b], rise[a]) })
	chosen := make([]int, k)
	for i := range chosen {
		chosen[i] = among[order[i]]
	}
	return chosen, nil
}

// interference is how much each loss rises in the virtual step.
func (m *MIR) interference(ctx ReplayContext, indices []int) ([]float64, error) {
	if err := ctx.VirtualStep(*m.Gamma); err != nil {
		return nil, err
	}
	samples := ctx.Memory().Items(indices)
	after, err := ctx.Losses(Virtual, samples)
	if err != nil {
		return nil, err
	}
	before, err := ctx.Losses(Current, samples)
	for k, loss := range before {
		if m.BestLoss {
			loss = lowest(samples[k].Score, loss)
			ctx.Memory().SetScore(indices[k], 1+loss) // which refuses a loss that is not finite
		}
		after[k] -= loss
	}
	return after, err
}

// lowest is the smaller of a loss and the one behind a score, which is 1 more; 0 stands for none. A
// loss that is NaN is none either.
func lowest(score, loss float64) float64 {
	switch {
	case score == 0:
		return loss
	case math.IsNaN(loss):
		return score - 1
	}
	return min(score-1, loss)
}
