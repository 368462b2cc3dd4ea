package method

import (
	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

// shifted finds the μ on the simplex that minimises ‖Σ μᵢJᵢ + λ·g₀‖² with g₀ the mean gradient: the
// min-norm point of the shifted gradients Jᵢ + λg₀ (docs/method.md §2.3). SDMGrad is this problem,
// and CAGrad is it for the right λ.
type shifted struct {
	solver emgd.Solver
	gram   []float64
}

// solve returns μ; it belongs to the solver and is valid until the next call.
func (p *shifted) solve(gram []float64, lambda float64, k int) ([]float64, error) {
	p.solver.ZeroTol = -1
	p.gram = fp.Grow(p.gram, k*k)
	mean, all := times(gram, ones(k)), 0.0
	for i := range mean {
		mean[i] /= float64(k)
		all += mean[i] / float64(k)
	}
	all = max(all, 0)
	for i := range k {
		for j := range k {
			p.gram[i*k+j] = gram[i*k+j] + lambda*(mean[i]+mean[j]) + lambda*lambda*all
		}
	}
	bounded(p.gram, k)
	for i := range k {
		if p.gram[i*k+i] == 0 { // which is the answer, not a stream that has converged
			mu := make([]float64, k)
			mu[i] = 1
			return mu, nil
		}
	}
	return lambdas(&p.solver, p.gram, ones(k))
}
