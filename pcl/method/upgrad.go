package method

import "github.com/parallelcl/parallelcl/emgd"

func init() {
	Register(Info{
		Name: "upgrad", Title: "UPGrad", Family: "mtl",
		Rule:   "each Jᵢ is projected on {d : Jⱼ·d ≥ 0 for all j}; d is the mean of the projections",
		Source: "Quinton & Rey, Jacobian Descent for Multi-Objective Optimization, arXiv 2406.16232",
		Cost:   "K(F+B) + Gram O(K²P) + K duals of size K×K", State: "none", SumW: "≥ 1; 1 without conflict",
	}, func() Method { return new(UPGrad) })
}

// UPGrad projects every gradient on the directions that hurt no stream and takes the mean
// (docs/method.md §4.12). One projection is the EMGD dual with σ = 1 on its own row: its λᵢ is then
// 1, and the other λⱼ remove its conflicts (docs/method.md §2.7).
type UPGrad struct {
	solver emgd.Solver
}

// Needs asks for the Gram matrix.
func (*UPGrad) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *UPGrad) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, m.mean)
}

// mean is the mean of all projections.
func (m *UPGrad) mean(r *rows) ([]float64, error) {
	p, err := emgd.NewProblem(r.gram)
	if err != nil {
		return nil, err
	}
	v, sigma := make([]float64, r.k()), make([]float64, r.k())
	for i := range sigma {
		sigma[i] = 1
		cert, err := solveGram(&m.solver, p, sigma)
		if err != nil {
			return nil, err
		}
		for j, l := range cert.Lambda {
			v[j] += l / float64(r.k())
		}
		sigma[i] = 0
	}
	return v, nil
}
