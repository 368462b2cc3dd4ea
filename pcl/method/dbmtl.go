package method

import (
	"errors"
	"math"
)

func init() {
	Register(Info{
		Name: "db-mtl", Title: "DB-MTL", Family: "mtl",
		Rule:   "d = max‖ĝ‖·Σ ĝᵢ/‖ĝᵢ‖, ĝᵢ ← βĝᵢ + (1−β)∇log ℓᵢ",
		Source: "Lin et al., Dual-Balancing for Multi-Task Learning, arXiv 2308.12029",
		Cost:   "K(F+B) + O(KP)", State: "ĝᵢ (P numbers) per stream", SumW: "not fixed",
	}, func() Method { return new(DBMTL) })
}

// DBMTL brings the losses to one scale by their logarithms and the moving averages of their
// gradients to the length of the longest. As in the authors' code in LibMTL, the means start at 0
// and the logarithm is that of ℓ + 1e-8. The nominal weight of a stream is the coefficient of its
// Jᵢ in d.
type DBMTL struct {
	Beta      *float64 `param:"beta" default:"0.9" range:"[0,0.999999999]" doc:"β in [0, 1), the share of the past in the moving averages"`
	BetaDecay float64  `param:"beta_decay" default:"0" range:"[0,1e9]" doc:"σ ≥ 0: β becomes β/n^σ in the stream's n-th step"`

	setup
	memo[dbmtlStream]
	d []float64
}

type dbmtlStream struct {
	Mean  vector `json:"mean"` // ĝ
	Steps int    `json:"steps" range:"[1,2147483647]"`
}

// Needs says what the method reads of a step.
func (*DBMTL) Needs() Needs {
	return Needs{Gram: true, Losses: true, PositiveLosses: true, Rows: true, Direction: true}
}

// Weights writes the weights of one step to w.
func (m *DBMTL) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	means, err := track(s, func(id int) vector { return m.memo[id].Mean })
	if err != nil {
		return Outcome{}, err
	}
	norms, top := make([]float64, len(means)), 0.0
	for i, id := range s.IDs {
		t := dbmtlStream{means[i], m.memo[id].Steps + 1}
		fresh := 1 - *m.Beta/math.Pow(float64(t.Steps), m.BetaDecay)
		w[i] = fresh / (s.Losses[i] + 1e-8)
		approach(t.Mean, s.Rows[i], 1/(s.Losses[i]+1e-8), fresh)
		m.memo[id] = t
		norms[i] = math.Sqrt(product(t.Mean, t.Mean))
		top = max(top, norms[i])
	}
	if math.IsInf(top, 1) {
		return Outcome{}, errors.New("a gradient divided by its loss leaves the range of float32; scale the losses down")
	}
	return m.balance(s, means, norms, top, w), nil
}

// balance brings the means to the length top; one that is 0 next to it is left out.
func (m *DBMTL) balance(s *Step, means []vector, norms []float64, top float64, w []float64) Outcome {
	var out Outcome
	factors := make([]float64, len(means))
	for i, norm := range norms {
		if norm > 1e-12*top {
			factors[i] = top / norm
		} else {
			out.Dropped = append(out.Dropped, s.IDs[i])
		}
		w[i] *= factors[i]
	}
	m.d = combineVectors(m.d, means, factors)
	out.Direction = m.d
	return out
}
