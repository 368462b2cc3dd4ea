package method

import "github.com/parallelcl/parallelcl/internal/fp"

func init() {
	Register(Info{
		Name: "graddrop", Title: "GradDrop", Family: "mtl",
		Rule: "in every coordinate either only the positive entries are summed, with probability P = ½(1 + " +
			"ΣJᵢ/Σ|Jᵢ|), or only the negative ones",
		Source: "Chen et al., Just Pick a Sign: Optimizing Deep Multitask Models with Gradient Sign Dropout, NeurIPS 2020 " +
			"(arXiv 2010.06808)",
		Cost: "K(F+B) + O(KP)", State: "none", SumW: "K (nominal)",
	}, func() Method { return new(GradDrop) })
}

// GradDrop works on the gradients of the parameters (docs/method.md §4.5); the paper does on those
// of a shared activation, times its sign. The nominal weights are 1: the expectation of d is the
// sum.
type GradDrop struct {
	Leak float64 `param:"leak" default:"0" range:"[0,1]" doc:"number in [0, 1], the part of every gradient that is always kept: 1 gives the sum"`

	setup
	d []float64
}

// Needs asks for the Gram matrix and the gradients. The step is along Outcome.Direction.
func (*GradDrop) Needs() Needs { return Needs{Gram: true, Rows: true, Direction: true} }

// Weights writes the weights of one step to w.
func (m *GradDrop) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	fill(w, 1)
	return Outcome{Direction: m.drop(s.Rows, s.random().Float64)}, nil
}

// drop returns d for the numbers U in [0, 1) that draw delivers, one per coordinate.
func (m *GradDrop) drop(rows [][]float64, draw func() float64) []float64 {
	m.d = fp.Grow(m.d, len(rows[0]))
	for p := range m.d {
		plus, minus := 0.0, 0.0
		for _, row := range rows {
			plus += max(row[p], 0)
			minus += max(-row[p], 0)
		}
		u, kept := draw(), -minus
		if size := plus + minus; size > 0 && plus/size > u { // plus/size is P
			kept = plus
		}
		m.d[p] = m.Leak*(plus-minus) + (1-m.Leak)*kept
	}
	return m.d
}
