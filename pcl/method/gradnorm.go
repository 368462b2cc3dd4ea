package method

import "math"

func init() {
	Register(Info{
		Name: "gradnorm", Title: "GradNorm", Family: "mtl",
		Rule: "w ← w − η∂/∂w Σ |wᵢ‖Jᵢ‖ − Ḡrᵢ^α|, where Ḡ is the mean of wᵢ‖Jᵢ‖ and " +
			"rᵢ is ℓᵢ/ℓᵢ(0) divided by its mean; Σw = K, d = Σ wᵢJᵢ",
		Source: "Chen et al., GradNorm, ICML 2018 (arXiv 1711.02257)",
		Cost:   "K(F+B) + K norms", State: "wᵢ and ℓᵢ(0) per stream", SumW: "K",
	}, func() Method { return new(GradNorm) })
}

// leastWeight keeps weights above 0; at 0 the rule could no longer compare the stream with the
// others.
const leastWeight = 1e-3

// GradNorm balances gradient norms by the streams' training rates (docs/method.md §4.3). A step
// uses the weights from before their update. A new stream enters with w = 1, and the weights of the
// active streams are brought to a sum of K. The memory's first loss is measured again whenever a
// task ends, because the memory's samples then change.
type GradNorm struct {
	Alpha *float64 `param:"alpha" default:"1.5" range:"[0,10]" doc:"α in [0, 10], how strongly slower streams are favoured"`
	LR    *float64 `param:"lr" default:"0.025" range:"[0,1e6]" doc:"η ≥ 0, step size of the weights, one step per iteration"`

	setup
	memo[gradNormStream]
}

type gradNormStream struct {
	W float64 `json:"w" range:"[0.001,inf)"`
	// First is ℓ(0); negative where the next loss is to be taken.
	First float64 `json:"first"`
}

// Needs asks for the Gram matrix and the losses, which may not be negative.
func (*GradNorm) Needs() Needs { return Needs{Gram: true, Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *GradNorm) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	for i, id := range s.IDs {
		t, known := m.memo[id]
		if !known {
			t = gradNormStream{W: 1, First: -1}
		}
		if t.First < 0 {
			t.First = s.Losses[i]
		}
		m.memo[id], w[i] = t, t.W
	}
	toSum(w, float64(len(w)))
	m.update(s, w)
	return Outcome{}, nil
}

// update makes one step on the weights.
func (m *GradNorm) update(s *Step, w []float64) {
	k := len(w)
	rate, norm := make([]float64, k), s.lengths()
	meanRate, meanNorm := 0.0, 0.0
	for i, id := range s.IDs {
		rate[i] = 1
		if first := m.memo[id].First; first > 0 {
			rate[i] = s.Losses[i] / first
		}
		meanRate += rate[i] / float64(k)
		meanNorm += w[i] * norm[i] / float64(k)
	}
	next := make([]float64, k)
	for i := range next {
		relative := 1.0
		if meanRate > 0 {
			relative = rate[i] / meanRate
		}
		next[i] = w[i]
		switch excess := w[i]*norm[i] - meanNorm*math.Pow(relative, *m.Alpha); {
		case excess > 0:
			next[i] -= *m.LR * norm[i]
		case excess < 0:
			next[i] += *m.LR * norm[i]
		}
		next[i] = max(next[i], leastWeight)
	}
	toSum(next, float64(k))
	for i, id := range s.IDs {
		m.memo[id] = gradNormStream{W: max(next[i], leastWeight), First: m.memo[id].First}
	}
}

func (t gradNormStream) without(of, _ int) gradNormStream {
	if of <= MemoryID {
		t.First = -1
	}
	return t
}
