package method

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/pcl/params"
)

func init() {
	Register(Info{
		Name: "modo", Title: "MoDo", Family: "mtl",
		Rule: "d = Σ λᵢJᵢ, λ ← P(λ − γ(J'J''ᵀλ + ρλ)), where J' and J'' are the gradients of " +
			"independent halves of the batches, and P is the projection on the simplex",
		Source: "Chen et al., Three-Way Trade-Off in Multi-Objective Learning, NeurIPS 2023 and JMLR 2024 (arXiv 2305.20057)",
		Cost:   "3K(F+B), for a batch and its two halves, + Gram and cross-Gram, O(K²P) each",
		State:  "λᵢ per stream", SumW: "1",
	}, func() Method { return new(MoDo) })
}

// MoDo approaches MGDA's weights by one unbiased gradient step per training step: the product of
// two independent samples of J is unbiased, while JJᵀ is not. As in the paper, d is computed from
// both samples together; LibMTL draws a third one for it. A new stream enters with λ = 1/K.
type MoDo struct {
	Gamma *float64 `param:"gamma" default:"0.001" range:"[0,1e9]" doc:"γ ≥ 0, step size of λ"`
	Rho   *float64 `param:"rho" default:"0.1" range:"[0,1e9]" doc:"ρ ≥ 0, how strongly λ is pulled towards equal weights"`

	setup
	memo[share]
}

// Needs asks for the Gram matrix and the products of half-batches.
func (*MoDo) Needs() Needs { return Needs{Gram: true, Cross: true} }

// Weights writes the weights of one step to w.
func (m *MoDo) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, func(r *rows) ([]float64, error) {
		for i, x := range s.Cross {
			if x-x != 0 {
				return nil, fmt.Errorf("the half-batch gradients of streams %d and %d have the inner product %g", s.IDs[i/s.k()],
					s.IDs[i%s.k()], x)
			}
		}
		ids := r.ids(s)
		lambda := entered(ids, func(id int) (float64, bool) {
			x, known := m.memo[id]
			return float64(x), known
		})
		next := make([]float64, len(lambda))
		for i, at := range r.at {
			slope := *m.Rho * lambda[i]
			for j, other := range r.at {
				slope += math.Ldexp(s.Cross[at*s.k()+other], 2*s.exponent()) * lambda[j]
			}
			next[i] = lambda[i] - *m.Gamma*slope
			if next[i]-next[i] != 0 {
				return nil, fmt.Errorf("a step along the inner products of stream %d leaves the range of float64; scale the "+
					"gradients down", ids[i])
			}
		}
		toSimplex(next)
		for i, id := range ids {
			m.memo[id] = share(next[i])
		}
		return next, nil
	})
}

// share is the λ of a stream.
type share float64

func (x share) check() error { return params.CheckRange(float64(x), "[0,1]") }
