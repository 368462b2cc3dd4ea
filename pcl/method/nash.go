package method

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() { Register(nashInfo, NashMTL{}) }

var nashInfo = Info{
	Name: "nash-mtl", Title: "Nash-MTL", Family: "mtl",
	Rule:   "the Nash bargaining solution: (Mα)ᵢ = 1/αᵢ, α > 0; d = Σ αᵢJᵢ is scaled so that ‖d‖ ≤ max_norm",
	Source: "Navon et al., Multi-Task Learning as a Bargaining Game, ICML 2022 (arXiv 2202.01017)",
	Cost:   "K(F+B) + Gram O(K²P) + a K×K Newton method", State: "none", SumW: "not fixed",
	NeedsGram: true,
}

// NashMTL solves the bargaining equations exactly in every step (docs/method.md §4.10), so it needs none of the
// warm starts and skipped updates of the published code. Where the gradients have 0 in their convex hull no
// bargain exists. The method then stays where it is, d = 0, with the weights and the certificate of MGDA(l2).
type NashMTL struct {
	MaxNorm float64 `param:"max_norm" default:"1" range:"(0,inf]" doc:"largest ‖d‖; a longer d is scaled down to it, and \"inf\" means no limit. Without a limit, ‖d‖ is always √K"`

	bargains bargains
}

func (m *NashMTL) Weights(s *Step, w []float64) (Outcome, error) {
	r := keep(s, w)
	if r.k() == 0 {
		return r.outcome(), nil
	}
	v, out, err := m.bargains.solve(s, r, 1, w)
	if err != nil || v == nil {
		return out, err
	}
	// The equations say that ‖d‖² = Σ αᵢ(Mα)ᵢ = K.
	if length := math.Sqrt(float64(r.k())); length > m.MaxNorm {
		for i := range v {
			v[i] *= m.MaxNorm / length
		}
	}
	return r.write(v, w), nil
}

// bargains solves (Mw)ᵢ = wᵢ^(−1/a), the equations of Nash-MTL (a = 1) and FairGrad.
type bargains struct {
	solver emgd.Solver
}

// solve returns w for the rows kept, or nil where there is none: then it has written the weights of
// MGDA(l2), whose certificate in the outcome shows that d = 0.
func (b *bargains) solve(s *Step, r *rows, a float64, w []float64) ([]float64, Outcome, error) {
	norms := make([]float64, s.K())
	for n, i := range r.at {
		norms[i] = math.Sqrt(r.dot(n, n)) * r.unit[n]
	}
	out, err := solve(&b.solver, s, norms, w)
	if err != nil || out.Certificate.Status == emgd.Stationary {
		return nil, out, err
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
		return nil, Outcome{}, err
	}
	scale := math.Pow(level, -2*a/(a+1))
	for i := range x {
		x[i] *= scale / (r.unit[i] / level)
		if !(x[i] >= fp.Smallest) || math.IsInf(x[i], 1) {
			return nil, Outcome{}, fmt.Errorf("the weight of stream %d leaves the range of float64; rescale the gradients", s.IDs[r.at[i]])
		}
	}
	return x, r.outcome(), nil
}
