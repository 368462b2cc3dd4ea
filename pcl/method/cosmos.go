package method

import "math"

func init() {
	Register(Info{
		Name: "cosmos", Title: "COSMOS", Family: "mtl",
		Rule: "d = ∇(Σℓᵢ/K − λ·cos(ℓ, 1)), where 1 is the vector of ones",
		Source: "Ruchte & Grabocka, Scalable Pareto Front Approximation for Deep Multi-Objective Learning, ICDM 2021 " +
			"(arXiv 2103.13392), with equal preferences, which are not an input of the network",
		Cost: "K(F+B)", State: "none", SumW: "not fixed",
	}, func() Method { return new(COSMOS) })
}

// COSMOS adds a term to the mean loss that keeps the losses close to each other.
type COSMOS struct {
	Lambda *float64 `param:"lambda" default:"1" range:"[0,1e9]" doc:"λ ≥ 0, reward for equal losses; the paper takes 0.01 to 8, depending on the data set"`

	setup
}

// Needs asks for the losses, which may not be negative.
func (*COSMOS) Needs() Needs { return Needs{Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *COSMOS) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	root, length, sum := math.Sqrt(float64(len(w))), 0.0, 0.0
	for _, x := range s.Losses {
		length = math.Hypot(length, x)
	}
	fill(w, 1/float64(len(w)))
	if length < 1e-12 {
		return Outcome{}, nil // no loss is left to hold together
	}
	for _, x := range s.Losses {
		sum += x / length
	}
	for i, x := range s.Losses {
		w[i] -= *m.Lambda / root / length * (1 - sum*x/length)
	}
	return Outcome{}, nil
}
