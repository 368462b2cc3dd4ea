package method

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() {
	Register(Info{
		Name: "sam-gs", Title: "SAM-GS", Family: "mtl",
		Rule: "with Ψ the mean of 2‖Jᵢ‖‖Jⱼ‖/(‖Jᵢ‖²+‖Jⱼ‖²) over all pairs: d = mean‖J‖·Σ " +
			"Jᵢ/‖Jᵢ‖ if Ψ < γ, else Σ |m̂ᵢ|⊙Jᵢ/√ĥ, where m and h are moving averages of the gradients " +
			"and of (1−Ψ)²",
		Source: "Borsani et al., Gradient Similarity Surgery in Multi-Task Deep Learning, ECML PKDD 2025 (arXiv 2506.06130)",
		Cost:   "K(F+B) + Gram O(K²P)", State: "mᵢ (P numbers) and hᵢ per stream", SumW: "not fixed",
	}, func() Method { return new(SAMGS) })
}

// SAMGS equalises gradients of different lengths, and multiplies those of similar length by their
// momentum, entry by entry. As in the authors' code, Ψ leaves out the pairs (i, i); with them, as
// in the paper's algorithm, a γ of 0.1 would never equalise fewer than ten streams. h is kept for
// each stream from its first step on. The nominal weight of a stream is the length of its part of d
// relative to that of its gradient.
type SAMGS struct {
	Gamma *float64 `param:"gamma" default:"0.1" range:"[0,1]" doc:"γ in [0, 1], the similarity below which gradients are equalised: 0 never, 1 nearly always; the authors' runs on images take 0.7"`
	Beta1 *float64 `param:"beta1" default:"0.9" range:"[0,0.999999999]" doc:"β₁ in [0, 1), the share of the past in the mean gradients"`
	Beta2 *float64 `param:"beta2" default:"0.99" range:"[0,0.999999999]" doc:"β₂ in [0, 1), the share of the past in the mean dissimilarity"`

	setup
	memo[samGSStream]
	d []float64
}

type samGSStream struct {
	Mean  vector  `json:"mean"` // m
	H     float64 `json:"h" range:"[1e-8,100]"`
	Steps int     `json:"steps" range:"[1,2147483647]"`
}

// samGSGuard is the paper's ε.
const samGSGuard = 1e-8

// Needs asks for the Gram matrix and the gradients. The step is along Outcome.Direction.
func (*SAMGS) Needs() Needs { return Needs{Gram: true, Rows: true, Direction: true} }

// Weights writes the weights of one step to w.
func (m *SAMGS) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	means, err := track(s, func(id int) vector { return m.memo[id].Mean })
	if err != nil {
		return Outcome{}, err
	}
	r := keep(s, w)
	m.d = fp.Grow(m.d, len(s.Rows[0]))
	clear(m.d)
	norms := r.norms() // all rows have one unit
	psi := similarity(norms)
	for i, at := range r.at {
		t := m.memo[s.IDs[at]]
		t.Mean, t.Steps = means[at], t.Steps+1
		approach(t.Mean, s.Rows[at], 1, 1-*m.Beta1)
		t.H = *m.Beta2*t.H + (1-*m.Beta2)*(1-psi)*(1-psi) + samGSGuard
		m.memo[s.IDs[at]] = t
		if psi < *m.Gamma {
			w[at] = sumOf(norms) / float64(len(norms)) / norms[i]
			floats.AddScaled(m.d, w[at], s.Rows[at])
			continue
		}
		scale, square := t.scale(*m.Beta1, *m.Beta2), 0.0
		for p, x := range s.Rows[at] {
			part := scale * math.Abs(float64(t.Mean[p])) * x
			m.d[p], square = m.d[p]+part, square+part*part
		}
		w[at] = math.Sqrt(square) / floats.Norm(s.Rows[at], 2)
	}
	return Outcome{Direction: m.d, Dropped: r.dropped}, nil
}

// similarity is Ψ: 1 if all gradients are of one length, and for a single one.
func similarity(norms []float64) float64 {
	sum, pairs := 0.0, 0.0
	for j, b := range norms {
		for _, a := range norms[:j] {
			ratio := min(a, b) / max(a, b)
			sum, pairs = sum+2*ratio/(1+ratio*ratio), pairs+1
		}
	}
	if pairs == 0 {
		return 1
	}
	return sum / pairs
}

// scale is what |m|⊙J is multiplied by: both means are corrected for having begun at 0.
func (t samGSStream) scale(beta1, beta2 float64) float64 {
	n := float64(t.Steps)
	return 1 / (1 - math.Pow(beta1, n)) / (math.Sqrt(t.H/(1-math.Pow(beta2, n))) + samGSGuard)
}
