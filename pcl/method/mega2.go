package method

import "math"

func init() {
	Register(Info{
		Name: "mega-2", Title: "MEGA-II", Family: "scl",
		Rule: "g_cur turned towards g_mem by the angle β in [0, π/2] that maximises ℓ_cur·cos β + " +
			"ℓ_mem·cos(θ−β), where θ is the angle between the two",
		Source: "Guo et al., Improved Schemes for Episodic Memory-based Lifelong Learning, NeurIPS 2020 (arXiv 1909.11763)",
		Cost:   "K(F+B) + Gram O(K²P)", State: "none", SumW: "not fixed",
	}, func() Method { return new(MEGA2) })
}

// MEGA2 turns the tasks' gradient without changing its length (docs/method.md §5.4). The best β has
// a closed form, and d = ‖g_cur‖·(sin(θ−β)ĝ_cur + sin β ĝ_mem)/sin θ.
type MEGA2 struct{}

// Needs asks for the Gram matrix and the losses, which may not be negative.
func (*MEGA2) Needs() Needs { return Needs{Gram: true, Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *MEGA2) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.serially(w, func(p serial) Outcome {
		if p.silent() {
			return p.withoutMemory(w)
		}
		cur, mem, top := math.Sqrt(p.cc), math.Sqrt(p.mm), max(p.loss, p.memoryLoss)
		cos := max(-1, min(1, p.cm/cur/mem))
		sin := math.Sqrt((1 - cos) * (1 + cos))
		if cur <= 1e-12*mem || sin <= 1e-5 || top == 0 { // there is nothing to turn, no plane to turn in, or no loss
			return p.write(1, 0, w)
		}
		l, k := p.loss/top, p.memoryLoss/top
		beta := max(0, min(math.Pi/2, math.Atan2(k*sin, l+k*cos)))
		theta := math.Atan2(sin, cos)
		return p.write(math.Sin(theta-beta)/sin, cur/mem*math.Sin(beta)/sin, w)
	})
}
