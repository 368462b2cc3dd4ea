package method

import (
	"errors"
	"math"
	"slices"
)

func init() {
	Register(Info{
		Name: "famo", Title: "FAMO", Family: "mtl",
		Rule: "w ∝ softmax(ξ)ᵢ/Dᵢ, Dᵢ = ℓᵢ−ℓᵢmin+ε; after the step, Adam changes ξ so that weight " +
			"moves to the streams whose log D decreased least",
		Source: "Liu et al., FAMO: Fast Adaptive Multitask Optimization, NeurIPS 2023 (arXiv 2306.03792)",
		Cost:   "K(F+B) + KF", State: "ξᵢ, its two moments and ℓᵢmin per stream", SumW: "1",
	}, func() Method { return new(FAMO) })
}

// FAMO moves weight to the streams whose log loss falls least (docs/method.md §4.15). It needs no
// products of gradients, but the losses of the same batches after the step. A new stream starts
// with the mean ξ of the other streams.
type FAMO struct {
	LR      *float64    `param:"lr" default:"0.025" range:"[0,1]" doc:"step size of ξ, in [0, 1]"`
	Decay   *float64    `param:"decay" default:"1e-3" range:"[0,1]" doc:"weight decay of ξ, in [0, 1]"`
	MinLoss FAMOMinLoss `param:"min_loss" default:"zero" choices:"zero,tracked" doc:"ℓᵢmin, which is subtracted from a loss: 0, or the stream's smallest loss so far, which needs an eps as large as the noise of the losses"`
	Eps     float64     `param:"eps" default:"1e-8" range:"[1e-12,1000]" doc:"ε in [1e-12, 1e3], added to ℓᵢ−ℓᵢmin"`

	setup
	memo[famoStream]
}

type famoStream struct {
	Xi    float64 `json:"xi" range:"[-1e9,1e9]"`
	M     float64 `json:"m" range:"[-1e9,1e9]"`
	V     float64 `json:"v" range:"[0,1e18]"`
	Moves int     `json:"moves" range:"[0,1e15]"`
	Least float64 `json:"least" range:"[0,inf)"` // ℓmin
	// Z is softmax(ξ) in the last step, with which Follow compares; 0 if the stream took no part.
	// Log is log D.
	Z   float64 `json:"z,omitempty" range:"[0,1]"`
	Log float64 `json:"log_d,omitempty" range:"[-1e3,1e3]"`
}

// Adam's decays and its guard against division by 0.
const (
	famoBeta1, famoBeta2 = 0.9, 0.999
	famoGuard            = 1e-8
)

// Needs asks for the losses, which may not be negative.
func (*FAMO) Needs() Needs { return Needs{Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *FAMO) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	m.addStreams(s)
	for i, id := range s.IDs {
		w[i] = m.memo[id].Xi
	}
	softmax(w)
	for id, t := range m.memo {
		t.Z = 0
		m.memo[id] = t
	}
	for i, id := range s.IDs {
		t := m.memo[id]
		d := m.distance(t, s.Losses[i])
		t.Z, t.Log = w[i], math.Log(d)
		m.memo[id] = t
		w[i] /= d
	}
	toSum(w, 1)
	return Outcome{}, nil
}

// addStreams gives new streams their ξ and keeps the smallest losses.
func (m *FAMO) addStreams(s *Step) {
	mean, known := 0.0, 0.0
	for _, id := range s.IDs {
		if t, ok := m.memo[id]; ok {
			mean, known = mean+t.Xi, known+1
		}
	}
	mean /= max(known, 1)
	for i, id := range s.IDs {
		t, ok := m.memo[id]
		if !ok {
			t = famoStream{Xi: mean, Least: s.Losses[i]}
		}
		t.Least = min(t.Least, s.Losses[i])
		m.memo[id] = t
	}
}

// distance is D of a loss.
func (m *FAMO) distance(t famoStream, loss float64) float64 {
	if m.MinLoss == FAMOTracked {
		loss = max(0, loss-t.Least)
	}
	return loss + m.Eps
}

// Follow moves ξ. A step after which a loss is not finite says nothing about the weights.
func (m *FAMO) Follow(ids []int, losses []float64) error {
	weighed := 0
	for _, t := range m.memo {
		if t.Z > 0 {
			weighed++
		}
	}
	if weighed != len(ids) || len(losses) != len(ids) || slices.ContainsFunc(ids, func(id int) bool {
		return m.memo[id].Z == 0
	}) {
		return errors.New("method famo: the losses after a step are not those of the streams that were weighed")
	}
	delta, mean := make([]float64, len(ids)), 0.0
	for i, id := range ids {
		if !(losses[i] >= 0) || math.IsInf(losses[i], 1) {
			return nil
		}
		t := m.memo[id]
		delta[i] = t.Log - math.Log(m.distance(t, losses[i]))
		mean += t.Z * delta[i]
	}
	for i, id := range ids {
		t := m.memo[id]
		m.memo[id] = m.adam(t, t.Z*(delta[i]-mean))
	}
	return nil
}

func (m *FAMO) adam(t famoStream, g float64) famoStream {
	g += *m.Decay * t.Xi
	t.Moves++
	t.M = famoBeta1*t.M + (1-famoBeta1)*g
	t.V = famoBeta2*t.V + (1-famoBeta2)*g*g
	n := float64(t.Moves)
	t.Xi -= *m.LR * t.M / (1 - math.Pow(famoBeta1, n)) / (math.Sqrt(t.V/(1-math.Pow(famoBeta2, n))) + famoGuard)
	return t
}
