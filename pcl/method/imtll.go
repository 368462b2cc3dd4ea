package method

import (
	"encoding/json"
	"math"

	"github.com/parallelcl/parallelcl/internal/limits"
)

func init() { Register(imtlLInfo, IMTLL{}) }

var imtlLInfo = Info{
	Name: "imtl-l", Title: "IMTL-L", Family: "mtl",
	Rule:   "d = Σ exp(sᵢ)Jᵢ, sᵢ ← sᵢ − lr·(exp(sᵢ)ℓᵢ − 1)",
	Source: "Liu et al., Towards Impartial Multi-Task Learning, ICLR 2021",
	Cost:   "K(F+B)", State: "sᵢ per stream", SumW: "not fixed",
	NeedsLosses: true,
}

// IMTLL learns a scale per stream that brings all losses to 1 (docs/method.md §4.8). A step uses the scales
// from before their update.
type IMTLL struct {
	LR   *float64 `param:"lr" default:"0.1" range:"[0,1]" doc:"step size of s, in [0, 1]"`
	Init string   `param:"init" default:"zero" choices:"zero,loss" doc:"s of a new stream: 0, or −log ℓ, the value at which it would no longer change"`

	memo[float64] // s
}

// mostLog bounds |s|: the scale of a loss that stays 0 would grow for ever.
const mostLog = 10

func (m *IMTLL) Weights(s *Step, w []float64) (Outcome, error) {
	return Outcome{}, m.scale(imtlLInfo, s, w)
}

// scale writes exp(s) to w and updates s.
func (m *IMTLL) scale(info Info, s *Step, w []float64) error {
	if err := s.checkLosses(info, w); err != nil {
		return err
	}
	for i, id := range s.IDs {
		log, known := m.memo[id]
		if !known && m.Init == "loss" {
			log = clampLog(-math.Log(s.Losses[i]))
		}
		w[i] = math.Exp(log)
		m.memo[id] = clampLog(log - *m.LR*(w[i]*s.Losses[i]-1))
	}
	return nil
}

func clampLog(x float64) float64 { return max(-mostLog, min(mostLog, x)) }

func (m *IMTLL) UnmarshalState(data json.RawMessage) error {
	return m.memo.restore("imtl-l", data, func(x float64) error { return limits.Within("s", x, -mostLog, mostLog) })
}
