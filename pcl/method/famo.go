package method

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/internal/limits"
)

func init() { Register(famoInfo, FAMO{}) }

var famoInfo = Info{
	Name: "famo", Title: "FAMO", Family: "mtl",
	Rule:   "w ∝ softmax(ξ)ᵢ/Dᵢ, Dᵢ = ℓᵢ−ℓᵢmin+ε; after the step, Adam changes ξ so that weight moves to the streams whose log D decreased least",
	Source: "Liu et al., FAMO: Fast Adaptive Multitask Optimization, NeurIPS 2023 (arXiv 2306.03792)",
	Cost:   "K(F+B) + KF", State: "ξᵢ, its two moments and ℓᵢmin per stream", SumW: "1",
	NeedsLosses: true, PositiveLosses: true,
}

// FAMO moves weight to the streams whose log loss falls least (docs/method.md §4.15). It needs no products of
// gradients, but the losses of the same batches after the step. A new stream starts with the mean ξ of the
// other streams.
type FAMO struct {
	LR      *float64 `param:"lr" default:"0.025" range:"[0,1]" doc:"step size of ξ, in [0, 1]"`
	Decay   *float64 `param:"decay" default:"1e-3" range:"[0,1]" doc:"weight decay of ξ, in [0, 1]"`
	MinLoss string   `param:"min_loss" default:"zero" choices:"zero,tracked" doc:"ℓᵢmin, which is subtracted from a loss: 0, or the stream's smallest loss so far, which needs an eps as large as the noise of the losses"`
	Eps     float64  `param:"eps" default:"1e-8" range:"[1e-12,1000]" doc:"ε in [1e-12, 1e3], added to ℓᵢ−ℓᵢmin"`

	memo[famoStream]
	last famoStep // what Follow compares with
}

type famoStream struct {
	Xi    float64 `json:"xi"`
	M     float64 `json:"m"`
	V     float64 `json:"v"`
	Moves int     `json:"moves"`
	Least float64 `json:"least"` // ℓmin
}

type famoStep struct {
	IDs []int     `json:"ids"`
	Z   []float64 `json:"z"`     // softmax(ξ)
	Log []float64 `json:"log_d"` // log D
}

func (t famoStream) check() error {
	return cmp.Or(
		limits.Within("ξ", t.Xi, -1e9, 1e9), limits.Within("its first moment", t.M, -1e9, 1e9), limits.Within("its second moment", t.V, 0, 1e18),
		limits.Within("its number of moves", float64(t.Moves), 0, 1e15), limits.Within("its smallest loss", t.Least, 0, math.MaxFloat64))
}

// check refuses a step that was never saved.
func (s famoStep) check() error {
	if len(s.Z) != len(s.IDs) || len(s.Log) != len(s.IDs) {
		return fmt.Errorf("%d ids, %d shares and %d logarithms", len(s.IDs), len(s.Z), len(s.Log))
	}
	for i := range s.IDs {
		if err := cmp.Or(limits.Within("z", s.Z[i], 0, 1), limits.Within("log D", s.Log[i], -1e3, 1e3)); err != nil {
			return err
		}
	}
	return nil
}

// famoPending is the key of the step in a saved state, beside the streams' keys. States of older programs lack it.
const famoPending = "pending"

// Adam's decays and its guard against division by 0.
const (
	famoBeta1, famoBeta2 = 0.9, 0.999
	famoGuard            = 1e-8
)

func (m *FAMO) Weights(s *Step, w []float64) (Outcome, error) {
	m.welcome(s)
	k := s.K()
	m.last = famoStep{IDs: slices.Clone(s.IDs), Z: make([]float64, k), Log: make([]float64, k)}
	for i, id := range s.IDs {
		m.last.Z[i] = m.memo[id].Xi
	}
	softmax(m.last.Z)
	for i, id := range s.IDs {
		d := m.distance(id, s.Losses[i])
		w[i], m.last.Log[i] = m.last.Z[i]/d, math.Log(d)
	}
	toSum(w, 1)
	return Outcome{}, nil
}

// welcome gives new streams their ξ and keeps the smallest losses.
func (m *FAMO) welcome(s *Step) {
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
func (m *FAMO) distance(id int, loss float64) float64 {
	if m.MinLoss == "tracked" {
		loss = max(0, loss-m.memo[id].Least)
	}
	return loss + m.Eps
}

// Follow moves ξ. A step after which a loss is not finite says nothing about the weights.
func (m *FAMO) Follow(ids []int, losses []float64) error {
	last := m.last
	if !slices.Equal(ids, last.IDs) || len(losses) != len(ids) {
		return errors.New("method famo: the losses after a step are not those of the streams that were weighed")
	}
	delta, mean := make([]float64, len(ids)), 0.0
	for i, id := range ids {
		if !(losses[i] >= 0) || math.IsInf(losses[i], 1) {
			return nil
		}
		delta[i] = last.Log[i] - math.Log(m.distance(id, losses[i]))
		mean += last.Z[i] * delta[i]
	}
	for i, id := range ids {
		if t, ok := m.memo[id]; ok {
			m.memo[id] = m.adam(t, last.Z[i]*(delta[i]-mean))
		}
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

// Snapshot copies the step that may still be followed, too.
func (m *FAMO) Snapshot() (restore func()) {
	back, last := m.memo.Snapshot(), m.last
	return func() {
		back()
		m.last = last
	}
}

// MarshalState writes what is known of each stream, and the step that may still be followed.
func (m *FAMO) MarshalState() (json.RawMessage, error) {
	all := map[string]any{}
	for id, t := range m.memo {
		all[strconv.Itoa(id)] = t
	}
	if m.last.IDs != nil {
		all[famoPending] = m.last
	}
	return json.Marshal(all)
}

func (m *FAMO) UnmarshalState(data json.RawMessage) error {
	all, last := map[string]json.RawMessage{}, famoStep{}
	if err := jsonin.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("its saved state: %w", err)
	}
	if pending := all[famoPending]; pending != nil {
		err := jsonin.Unmarshal(pending, &last)
		if err == nil {
			err = last.check()
		}
		if err != nil {
			return fmt.Errorf("its saved state: %s: %w", famoPending, err)
		}
		delete(all, famoPending)
	}
	streams, err := json.Marshal(all)
	if err == nil {
		err = m.memo.UnmarshalState(streams)
	}
	if err == nil {
		m.last = last
	}
	return err
}
