package method

import "math"

func init() {
	Register(Info{
		Name: "pbi", Title: "PBI", Family: "mtl",
		Rule: "d = ∇(d₁ + θd₂), where d₁ = Σℓᵢ/√K is the length of ℓ along the line of equal losses " +
			"and d₂ its distance from that line",
		Source: "Zhang & Li, MOEA/D: A Multiobjective Evolutionary Algorithm Based on Decomposition, IEEE TEVC 2007, with " +
			"equal preferences and ideal point 0",
		Cost: "K(F+B)", State: "none", SumW: "√K",
	}, func() Method { return new(PBI) })
}

// PBI is penalty-based boundary intersection. A stream whose loss is far below the mean has a
// negative weight.
type PBI struct {
	Theta *float64 `param:"theta" default:"5" range:"[0,1e9]" doc:"θ ≥ 0, penalty on unequal losses"`

	setup
}

// Needs asks for the losses, which may not be negative.
func (*PBI) Needs() Needs { return Needs{Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *PBI) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	k := float64(len(w))
	mean, top, distance := 0.0, 0.0, 0.0
	for _, x := range s.Losses {
		mean, top = mean+x/k, max(top, x)
	}
	for _, x := range s.Losses {
		distance = math.Hypot(distance, x-mean)
	}
	for i, x := range s.Losses {
		w[i] = 1 / math.Sqrt(k)
		if distance > 1e-12*top { // else there is no direction but that of rounding
			w[i] += *m.Theta * (x - mean) / distance
		}
	}
	return Outcome{}, nil
}
