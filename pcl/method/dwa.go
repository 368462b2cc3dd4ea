package method

import "gonum.org/v1/gonum/floats"

func init() {
	Register(Info{
		Name: "dwa", Title: "DWA", Family: "mtl",
		Rule:   "w = K·softmax(r/T), rᵢ = ℓᵢ(t−1)/ℓᵢ(t−2), where ℓᵢ are moving averages of the losses",
		Source: "Liu, Johns & Davison, End-to-End Multi-Task Learning with Attention, CVPR 2019 (arXiv 1803.10704)",
		Cost:   "K(F+B)", State: "the last two mean losses per stream", SumW: "K",
	}, func() Method { return new(DWA) })
}

// DWA weights streams by how slowly their losses fall (docs/method.md §4.4). A stream with fewer
// than two losses behind it has r = 1.
type DWA struct {
	Temperature float64  `param:"temperature" default:"2" range:"[0.001,1e9]" doc:"T > 0, temperature of the softmax; a large T gives equal weights"`
	Momentum    *float64 `param:"momentum" default:"0.9" range:"[0,0.999999999]" doc:"β in [0, 1), share of the past in the moving averages, which replace the means over epochs of the original method; 0 compares single steps"`

	setup
	memo[dwaStream]
}

// dwaStream holds the mean losses after the last step and the one before.
type dwaStream struct {
	Last   float64 `json:"last" range:"[0,inf)"`
	Before float64 `json:"before" range:"[0,inf)"`
	Seen   int     `json:"seen" range:"[1,2]"` // losses
}

// mostRate bounds r, which a loss near 0 would otherwise drive out of float64.
const mostRate = 1e6

// Needs asks for the losses, which may not be negative.
func (*DWA) Needs() Needs { return Needs{Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *DWA) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	for i, id := range s.IDs {
		t := m.memo[id]
		w[i] = 1 / m.Temperature
		if t.Seen == 2 && t.Before > 0 {
			w[i] = min(t.Last/t.Before, mostRate) / m.Temperature
		}
		m.memo[id] = t.observe(s.Losses[i], *m.Momentum)
	}
	softmax(w)
	floats.Scale(float64(len(w)), w)
	return Outcome{}, nil
}

func (t dwaStream) observe(loss, momentum float64) dwaStream {
	if t.Seen == 0 {
		return dwaStream{Last: loss, Seen: 1}
	}
	return dwaStream{Last: momentum*t.Last + (1-momentum)*loss, Before: t.Last, Seen: 2}
}
