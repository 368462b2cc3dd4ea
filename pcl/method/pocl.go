package method

import (
	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

var _ = published(Info{
	Name: "pocl", Title: "POCL (plain gradients)", Family: "scl",
	Rule:   "d = g_cur + Σ μᵢJᵢ over the finished tasks, with the μ on the simplex that minimises ‖Σ μᵢJᵢ‖²",
	Source: "Wu et al., Mitigating Catastrophic Forgetting in Online Continual Learning by Modeling Previous Task Interrelations via Pareto Optimization, ICML 2024, without its hyper-gradients",
	Cost:   "(K_c + finished)(F+B) + Gram O(K²P) + a dual", State: "none", SumW: "2; 1 while the memory is empty",
	NeedsGram: true,
}, POCL{})

// POCL joins the finished tasks by MGDA, and adds the current ones (docs/method.md §5.12).
type POCL struct {
	solver emgd.Solver
}

func (*POCL) part() any { return rehearsal.PerTask{} }

func (m *POCL) weights(s *Step, w []float64) Outcome {
	f, out, done := besideFinished(s, w)
	if done {
		return out
	}
	if n := len(f.past); n > 0 {
		for a, l := range solved(&m.solver, problemOf(f.pastGram()), ones(n)).Lambda {
			f.u[f.past[a]] = l
		}
	}
	return f.write(f.u, w)
}
