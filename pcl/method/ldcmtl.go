package method

import (
	"cmp"
	"math"
	"slices"
)

func init() {
	Register(Info{
		Name: "ldc-mtl", Title: "LDC-MTL", Family: "mtl",
		Rule: "d = ∇(Σ σᵢℓᵢ/Σσ + λΣ |σᵢℓᵢ − σᵢ₊₁ℓᵢ₊₁|) with streams in order of " +
			"arrival; the logits of σ descend on the same function, Σσ held constant",
		Source: "Xiao et al., LDC-MTL: Balancing Multi-Task Learning through Scalable Loss Discrepancy Control, arXiv " +
			"2502.08585, as in its code for CelebA",
		Cost: "K(F+B)", State: "the logit of σᵢ per stream", SumW: "1 but for λ",
	}, func() Method { return new(LDCMTL) })
}

// LDCMTL holds the weighted losses of neighbours together. In the paper σ is the output of a small
// network on the shared features; in the authors' code for CelebA and QM9 it is the sigmoid of one
// learnt number per task, which is what this rule does. There the network's own Adam moves these
// numbers; here it is plain descent. A new stream begins with the logit 1, as there.
type LDCMTL struct {
	Lambda *float64 `param:"lambda" default:"0.01" range:"[0,1e6]" doc:"λ ≥ 0, how strongly neighbouring losses are held together: 0 gives σᵢ/Σσ alone; the authors take 0.01 to 0.1"`
	LR     *float64 `param:"lr" default:"0.001" range:"[0,1]" doc:"step size of the logits, in [0, 1]"`

	setup
	memo[logScale]
}

// Needs asks for the losses, which may not be negative.
func (*LDCMTL) Needs() Needs { return Needs{Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *LDCMTL) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	sigma, order := make([]float64, s.k()), make([]int, s.k())
	for i, id := range s.IDs {
		if _, known := m.memo[id]; !known {
			m.memo[id] = 1
		}
		sigma[i], order[i] = 1/(1+math.Exp(-float64(m.memo[id]))), i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.IDs[a], s.IDs[b]) })
	fill(w, 1/sumOf(sigma))
	for n, j := range order[1:] {
		i := order[n]
		pull := *m.Lambda * float64(cmp.Compare(sigma[i]*s.Losses[i], sigma[j]*s.Losses[j]))
		w[i], w[j] = w[i]+pull, w[j]-pull
	}
	for i, id := range s.IDs { // w is the derivative by σᵢℓᵢ
		m.memo[id] = clampLog(float64(m.memo[id]) - *m.LR*sigma[i]*(1-sigma[i])*(w[i]*s.Losses[i]))
		w[i] *= sigma[i]
	}
	return Outcome{}, nil
}
