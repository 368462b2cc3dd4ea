package method

import (
	"fmt"
	"slices"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() { Register(mgdaInfo, MGDA{}) }

var mgdaInfo = Info{
	Name: "mgda", Title: "MGDA", Family: "mtl",
	Rule:   "d = Σ μᵢJᵢ with the μ on the simplex that minimises ‖Σ μᵢJᵢ‖²",
	Source: "Désidéri, C. R. Math. 350, 2012; Sener & Koltun, Multi-Task Learning as Multi-Objective Optimization, NeurIPS 2018",
	Cost:   "K(F+B) + Gram O(K²P)", State: "none", SumW: "1 (norm=none)",
	NeedsGram: true,
}

// MGDA is the method "mgda".
type MGDA struct {
	Norm string `param:"norm" default:"none" choices:"none,l2,loss,loss+" doc:"what each gradient is divided by before the weights are computed: 1, ‖Jᵢ‖, ℓᵢ or ℓᵢ‖Jᵢ‖"`
}

// Start makes the method.
func (p MGDA) Start() (Method, error) {
	m := &mgda{norm: p.Norm, info: mgdaInfo}
	m.info.NeedsLosses = p.Norm == "loss" || p.Norm == "loss+"
	return m, nil
}

// mgda is the min-norm point of the gradients' convex hull (docs/method.md §4.2): the EMGD dual with
// every σᵢ = 1. Normalisation divides row i by cᵢ, which is the dual with σᵢ = cᵢ up to the
// weights' scale: μᵢ over Jᵢ/cᵢ gives Jᵢ the weight μᵢ/cᵢ, and Σμᵢ = Σ cᵢ(μᵢ/cᵢ) = 1. The code of Sener & Koltun steps
// along Σ μᵢJᵢ instead.
type mgda struct {
	norm   string
	info   Info
	solver emgd.Solver
	sigma  []float64
}

func newMGDA(norm string) *mgda {
	m := &mgda{norm: norm, info: mgdaInfo}
	m.info.NeedsLosses = norm == "loss" || norm == "loss+"
	return m
}

func (m *mgda) Info() Info { return m.info }

func (m *mgda) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.check(m.info, w); err != nil {
		return Outcome{}, err
	}
	if err := s.checkGram(m.info); err != nil {
		return Outcome{}, err
	}
	m.sigma = fp.Grow(m.sigma, s.K())
	for i, length := range s.lengths() {
		c := 1.0
		if m.norm == "l2" || m.norm == "loss+" {
			c *= length
		}
		if m.norm == "loss" || m.norm == "loss+" {
			if s.Losses[i] < 0 {
				return Outcome{}, fmt.Errorf("mgda: norm=%s needs losses ≥ 0; stream %d has %g", m.norm, s.IDs[i], s.Losses[i])
			}
			c *= s.Losses[i]
		}
		m.sigma[i] = c
	}
	if slices.Max(m.sigma) == 0 {
		fill(m.sigma, 1) // every loss or gradient is 0: there is no scale to divide by
	}
	return solve(&m.solver, s, m.sigma, w)
}
