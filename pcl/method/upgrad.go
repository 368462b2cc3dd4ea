package method

import (
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/parallelcl/parallelcl/emgd"
)

func init() { Register(upGradInfo, UPGrad{}) }

var upGradInfo = Info{
	Name: "upgrad", Title: "UPGrad", Family: "mtl",
	Rule:   "each Jᵢ is projected on {d : Jⱼ·d ≥ 0 for all j}; d is the mean of the projections",
	Source: "Quinton & Rey, Jacobian Descent for Multi-Objective Optimization, arXiv 2406.16232",
	Cost:   "K(F+B) + Gram O(K²P) + K duals of size K×K", State: "none", SumW: "≥ 1; 1 without conflict",
	NeedsGram: true,
}

// UPGrad projects every gradient on the directions that hurt no stream and takes the mean (docs/method.md
// §4.12). One projection is the EMGD dual with σ = 1 on its own row: its λᵢ is then 1, and the other λⱼ
// remove its conflicts (docs/method.md §2.7).
type UPGrad struct {
	solvers []emgd.Solver // one for each goroutine
}

func (m *UPGrad) Weights(s *Step, w []float64) (Outcome, error) { return s.onRows(w, m.mean) }

// mean is the mean of all projections.
func (m *UPGrad) mean(r *rows) ([]float64, error) {
	k := r.k()
	lambda, v := make([][]float64, k), make([]float64, k)
	var group errgroup.Group
	solvers := min(runtime.GOMAXPROCS(0), 1+k/fewRows)
	for len(m.solvers) < solvers {
		m.solvers = append(m.solvers, emgd.Solver{})
	}
	p, err := emgd.NewProblem(r.gram)
	if err != nil {
		return nil, err
	}
	for n := range solvers {
		group.Go(func() error { return m.project(p, lambda, n, solvers) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, row := range lambda {
		for j, l := range row {
			v[j] += l / float64(k)
		}
	}
	return v, nil
}

// project solves the duals of every step-th gradient from the first on, with a solver of their own.
func (m *UPGrad) project(p *emgd.Problem, lambda [][]float64, first, step int) error {
	own := make([]float64, len(lambda))
	for i := first; i < len(lambda); i += step {
		own[i] = 1
		cert, err := solved(m.solvers[first].Solve(p, own))
		if err != nil {
			return err
		}
		own[i], lambda[i] = 0, slices.Clone(cert.Lambda)
	}
	return nil
}
