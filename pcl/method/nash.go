package method

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() {
	Register(Info{
		Name: "nash-mtl", Title: "Nash-MTL", Family: "mtl",
		Rule: "the Nash bargaining solution: (Mα)ᵢ = 1/αᵢ, α > 0; d = Σ αᵢJᵢ is scaled so that ‖d‖ ≤ " +
			"max_norm",
		Source: "Navon et al., Multi-Task Learning as a Bargaining Game, ICML 2022 (arXiv 2202.01017)",
		Cost:   "K(F+B) + Gram O(K²P) + a K×K Newton method", State: "none", SumW: "not fixed",
	}, func() Method { return new(NashMTL) })
}

// NashMTL solves the bargaining equations exactly in every step (docs/method.md §4.10), so it needs
// none of the warm starts and skipped updates of the published code. Where the gradients have 0 in
// their convex hull no bargain exists. The method then stays where it is, d = 0, with the weights
// and the certificate of MGDA(l2).
type NashMTL struct {
	MaxNorm float64 `param:"max_norm" default:"1" range:"(0,inf]" doc:"largest ‖d‖; a longer d is scaled down to it, and \"inf\" means no limit. Without a limit, ‖d‖ is always √K"`

	setup
	solver emgd.Solver
}

// Needs asks for the Gram matrix.
func (*NashMTL) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *NashMTL) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return bargain(&m.solver, s, w, 1, m.MaxNorm)
}

// bargain solves (Mw)ᵢ = wᵢ^(−1/a), the equations of Nash-MTL (a = 1) and FairGrad, and makes w
// shorter where a ‖d‖ of √K is longer than most. Where there is no solution it writes the weights
// of MGDA(l2), whose certificate shows that d = 0.
func bargain(solver *emgd.Solver, s *Step, w []float64, a, most float64) (Outcome, error) {
	r := keep(s, w)
	if r.k() == 0 {
		return r.outcome(), nil
	}
	norms := make([]float64, s.k())
	for n, i := range r.at {
		norms[i] = math.Sqrt(r.dot(n, n)) * r.unit[n]
	}
	if out, err := solve(solver, s, norms, w); err != nil || out.Certificate.Status == emgd.Stationary {
		return out, err
	}
	clear(w)
	r.level()
	level := r.unit[0]
	r.balance()
	// w = x/p turns the equations into (Ĵ Ĵᵀx)ᵢ = pᵢ^(1/a − 1)·xᵢ^(−1/a) for Ĵᵢ = Jᵢ/pᵢ, up to the
	// common level, which w follows with the power −2a/(a+1).
	c := make([]float64, r.k())
	for i, unit := range r.unit {
		c[i] = math.Pow(unit/level, 1/a-1)
	}
	x, err := fairness(r.gram, c, a)
	if err != nil {
		return Outcome{}, err
	}
	scale, length := math.Pow(level, -2*a/(a+1)), math.Sqrt(float64(r.k()))
	for i := range x {
		x[i] *= scale / (r.unit[i] / level)
		if !(x[i] >= fp.Smallest) || math.IsInf(x[i], 1) {
			return Outcome{}, fmt.Errorf("the weight of stream %d leaves the range of float64; rescale the gradients",
				s.IDs[r.at[i]])
		}
		if length > most {
			x[i] *= most / length
		}
	}
	return r.write(x, w), nil
}
