package method

import (
	"slices"

	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

func init() {
	Register(Info{
		Name: "gem", Title: "GEM", Family: "scl",
		Rule: "d = g_cur if that conflicts with no finished task; otherwise g_cur + Gᵀv, v = argmin ½vᵀ(GGᵀ+εI)v " +
			"+ (G g_cur)ᵀv over v ≥ m, where G has one gradient for each finished task",
		Source: "Lopez-Paz & Ranzato, Gradient Episodic Memory for Continual Learning, NeurIPS 2017 (arXiv 1706.08840)",
		Cost:   "(K_c + finished)(F+B) + Gram O(K²P) + a dual", State: "none", SumW: "≥ 1; 1 without conflict",
	}, func() Method { return new(GEM) })
}

// GEM keeps the step from raising the loss of any finished task (docs/method.md §5.3).
type GEM struct {
	Margin *float64 `param:"margin" default:"0.5" range:"[0,1e6]" doc:"m ≥ 0, smallest weight of a finished task's gradient in a step that conflicts with one of them (\"memory strength\" in the official code)"`
	Eps    *float64 `param:"eps" default:"1e-3" range:"[0,1e12]" doc:"ε ≥ 0, added to the diagonal of the dual's matrix, in units of a squared gradient"`

	setup
	cone cone
}

// Parts is a row of the memory for each finished task.
func (*GEM) Parts() []rehearsal.Part { return []rehearsal.Part{&rehearsal.PerTask{}} }

// Needs asks for the Gram matrix.
func (*GEM) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *GEM) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	f, out, done := besideFinished(s, w)
	if done {
		return out, nil
	}
	gain := times(f.gram, f.u) // d = Σ uᵢJᵢ
	if slices.ContainsFunc(f.past, func(i int) bool { return gain[i] < 0 }) {
		if err := m.repair(f); err != nil {
			return Outcome{}, err
		}
	}
	return f.write(f.u, w), nil
}

// repair adds v to the weights of the finished tasks. With v = m + x the dual is that of the
// shortest p + Σ xᵢJᵢ, x ≥ 0, for the proposal p = g_cur + mΣJᵢ, where ε acts as an additional
// coordinate for each finished task.
func (m *GEM) repair(f finished) error {
	// All rows have the same unit. Beyond 1e200 times their products ε leaves them no weight at
	// all.
	eps, n := min(*m.Eps/f.unit[0]/f.unit[0], 1e200), len(f.past)
	for _, i := range f.past {
		f.u[i] = *m.Margin
	}
	p, gram, products := times(f.gram, f.u), f.pastGram(), make([]float64, n)
	for a, i := range f.past {
		products[a] = p[i] + eps**m.Margin
		gram[a*n+a] += eps
	}
	square := inner(f.u, p) + float64(n)*eps**m.Margin**m.Margin
	push, err := m.cone.push(square, f.size(f.u), products, gram)
	for a, x := range push {
		f.u[f.past[a]] += x
	}
	return err
}
