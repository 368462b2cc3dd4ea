package method

import "github.com/parallelcl/parallelcl/emgd"

var _ = published(Info{
	Name: "upgrad", Title: "UPGrad", Family: "mtl",
	Rule:   "each Jᵢ is projected on {d : Jⱼ·d ≥ 0 for all j}; d is the mean of the projections",
	Source: "Quinton & Rey, Jacobian Descent for Multi-Objective Optimization, arXiv 2406.16232",
	Cost:   "K(F+B) + Gram O(K²P) + K duals of size K×K", State: "none", SumW: "≥ 1; 1 without conflict",
	NeedsGram: true,
}, UPGrad{})

// UPGrad projects every gradient on the directions that hurt no stream and takes the mean (docs/method.md
// §4.12). One projection is the EMGD dual with σ = 1 on its own row: its λᵢ is then 1, and the other λⱼ
// remove its conflicts (docs/method.md §2.7).
type UPGrad struct {
	solver emgd.Solver
}

func (m *UPGrad) weights(s *Step, w []float64) Outcome { return s.onRows(w, m.mean) }

// mean is the mean of all projections.
func (m *UPGrad) mean(r *rows) []float64 {
	v, sigma, p := make([]float64, r.k()), make([]float64, r.k()), problemOf(r.gram)
	for i := range sigma {
		sigma[i] = 1
		for j, l := range solved(&m.solver, p, sigma).Lambda {
			v[j] += l / float64(r.k())
		}
		sigma[i] = 0
	}
	return v
}
