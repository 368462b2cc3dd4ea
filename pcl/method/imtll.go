package method

import (
	"math"

	"github.com/parallelcl/parallelcl/pcl/params"
)

func init() {
	Register(Info{
		Name: "imtl-l", Title: "IMTL-L", Family: "mtl",
		Rule:   "d = Σ exp(sᵢ)Jᵢ, sᵢ ← sᵢ − lr·(exp(sᵢ)ℓᵢ − 1)",
		Source: "Liu et al., Towards Impartial Multi-Task Learning, ICLR 2021",
		Cost:   "K(F+B)", State: "sᵢ per stream", SumW: "not fixed",
	}, func() Method { return new(IMTLL) })
}

// IMTLL learns a scale per stream that brings all losses to 1 (docs/method.md §4.8). A step uses
// the scales from before their update.
type IMTLL struct {
	LR   *float64 `param:"lr" default:"0.1" range:"[0,1]" doc:"step size of s, in [0, 1]"`
	Init IMTLInit `param:"init" default:"zero" choices:"zero,loss" doc:"s of a new stream: 0, or −log ℓ, the value at which it would no longer change"`

	setup
	memo[logScale]
}

// mostLog bounds |s|: the scale of a loss that stays 0 would grow for ever.
const mostLog = 10

// Needs asks for the losses, which may not be negative.
func (*IMTLL) Needs() Needs { return Needs{Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *IMTLL) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	scaleLosses(m.memo, s, w, *m.LR, m.Init)
	return Outcome{}, nil
}

// scaleLosses writes exp(s) to w and updates s.
func scaleLosses(memo memo[logScale], s *Step, w []float64, rate float64, init IMTLInit) {
	for i, id := range s.IDs {
		log, known := memo[id]
		if !known && init == IMTLLoss {
			log = clampLog(-math.Log(s.Losses[i]))
		}
		w[i] = math.Exp(float64(log))
		memo[id] = clampLog(float64(log) - rate*(w[i]*s.Losses[i]-1))
	}
}

func clampLog(x float64) logScale { return logScale(max(-mostLog, min(mostLog, x))) }

// logScale is the learnt s of a stream.
type logScale float64

func (x logScale) check() error { return params.CheckRange(float64(x), "[-10,10]") }
