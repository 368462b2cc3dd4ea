package method

import (
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() {
	Register(Info{
		Name: "gls", Title: "GLS", Family: "mtl",
		Rule: "d = ∇(Π ℓᵢ)^(1/K), that is wᵢ = (Π ℓⱼ)^(1/K)/(K·ℓᵢ)",
		Source: "Chennupati et al., MultiNet++: Multi-Stream Feature Aggregation and Geometric Loss Strategy, CVPR " +
			"Workshops 2019 (arXiv 1904.08492)",
		Cost: "K(F+B)", State: "none", SumW: "≥ 1; 1 for equal losses",
	}, func() Method { return new(GLS) })
}

// GLS descends on the geometric mean of the losses. A stream whose loss is 0 next to the largest
// would keep the mean at 0 and is left out.
type GLS struct{}

// Needs asks for the losses, which may not be negative.
func (*GLS) Needs() Needs { return Needs{Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *GLS) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	bound, mean, n := 1e-12*slices.Max(s.Losses), 0.0, 0.0
	for _, x := range s.Losses {
		if x > bound {
			mean += fp.Log(x)
			n++
		}
	}
	var out Outcome
	for i, x := range s.Losses {
		w[i] = 0
		if x > bound {
			w[i] = math.Exp(mean/n-fp.Log(x)) / n
		} else {
			out.Dropped = append(out.Dropped, s.IDs[i])
		}
	}
	return out, nil
}
