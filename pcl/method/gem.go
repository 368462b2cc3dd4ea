package method

import (
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

var _ = published(Info{
	Name: "gem", Title: "GEM", Family: "scl",
	Rule:   "d = g_cur if that conflicts with no finished task; otherwise g_cur + Gᵀv, v = argmin ½vᵀ(GGᵀ+εI)v + (G g_cur)ᵀv over v ≥ m, where G has one gradient for each finished task",
	Source: "Lopez-Paz & Ranzato, Gradient Episodic Memory for Continual Learning, NeurIPS 2017 (arXiv 1706.08840)",
	Cost:   "(K_c + finished)(F+B) + Gram O(K²P) + a dual", State: "none", SumW: "≥ 1; 1 without conflict",
	NeedsGram: true,
}, GEM{})

// GEM keeps the step from raising the loss of any finished task (docs/method.md §5.3).
type GEM struct {
	Margin *float64 `param:"margin" default:"0.5" range:"[0,1e6]" doc:"m ≥ 0, smallest weight of a finished task's gradient in a step that conflicts with one of them (\"memory strength\" in the official code)"`
	Eps    *float64 `param:"eps" default:"1e-3" range:"[0,1e12]" doc:"ε ≥ 0, added to the diagonal of the dual's matrix, in units of a squared gradient"`

	solver emgd.Solver
}

func (m *GEM) rehearsed() (weigher, rehearsal.Part) { return m, rehearsal.PerTask{} }

func (m *GEM) Weights(s *Step, w []float64) (Outcome, error) {
	f, out, done := besideFinished(s, w)
	if done {
		return out, nil
	}
	gain := f.times(f.u) // d = Σ uᵢJᵢ
	if slices.ContainsFunc(f.past, func(i int) bool { return gain[i] < 0 }) {
		if err := m.repair(f.rows, f.past, f.u); err != nil {
			return Outcome{}, err
		}
	}
	return f.write(f.u, w), nil
}

// repair adds v to the weights of the finished tasks. With v = m + x the dual is that of the shortest p + Σ
// xᵢJᵢ, x ≥ 0, where ε acts as an additional coordinate for each finished task: the EMGD dual with p = g_cur
// + mΣJᵢ as one more row that alone has σ = 1 (docs/method.md §2.7).
func (m *GEM) repair(r *rows, past []int, u []float64) error {
	// All rows have the same unit. Beyond 1e200 times their products ε leaves them no weight at all.
	eps := min(*m.Eps/r.unit[0]/r.unit[0], 1e200)
	for _, i := range past {
		u[i] = *m.Margin
	}
	p, n := r.times(u), len(past)+1
	gram, sigma := make([]float64, n*n), make([]float64, n)
	sigma[0] = 1
	gram[0] = inner(u, p) + float64(len(past))*eps**m.Margin**m.Margin
	if length := r.lengths(u); gram[0] <= cancelled*cancelled*length*length {
		return nil // p is 0 but for rounding
	}
	for a, i := range past {
		along := p[i] + eps**m.Margin
		gram[a+1], gram[(a+1)*n] = along, along
		for b, j := range past {
			gram[(a+1)*n+b+1] = r.dot(i, j)
		}
		gram[(a+1)*n+a+1] += eps
	}
	bounded(gram, n)
	cert, err := solveGram(&m.solver, gram, sigma)
	if err != nil {
		return err
	}
	for a, i := range past {
		u[i] += cert.Lambda[a+1]
	}
	return nil
}
