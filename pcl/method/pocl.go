package method

import (
	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

func init() {
	Register(Info{
		Name: "pocl", Title: "POCL (plain gradients)", Family: "scl",
		Rule: "d = g_cur + Σ μᵢJᵢ over the finished tasks, with the μ on the simplex that minimises ‖Σ " +
			"μᵢJᵢ‖²",
		Source: "Wu et al., Mitigating Catastrophic Forgetting in Online Continual Learning by Modeling Previous Task " +
			"Interrelations via Pareto Optimization, ICML 2024, without its hyper-gradients",
		Cost: "(K_c + finished)(F+B) + Gram O(K²P) + a dual", State: "none", SumW: "2; 1 while the memory is empty",
	}, func() Method { return new(POCL) })
}

// POCL joins the finished tasks by MGDA, and adds the current ones (docs/method.md §5.12).
type POCL struct {
	solver emgd.Solver
}

// Parts is a row of the memory for each finished task.
func (*POCL) Parts() []rehearsal.Part { return []rehearsal.Part{&rehearsal.PerTask{}} }

// Needs asks for the Gram matrix.
func (*POCL) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *POCL) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	f, out, done := besideFinished(s, w)
	if done {
		return out, nil
	}
	if n := len(f.past); n > 0 {
		lambda, err := lambdas(&m.solver, f.pastGram(), ones(n))
		if err != nil {
			return Outcome{}, err
		}
		for a, l := range lambda {
			f.u[f.past[a]] = l
		}
	}
	return f.write(f.u, w), nil
}
