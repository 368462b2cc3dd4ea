package method

func init() {
	Register(Info{
		Name: "imtl", Title: "IMTL", Family: "mtl",
		Rule:   "IMTL-G applied to the gradients exp(sᵢ)Jᵢ, as scaled by IMTL-L",
		Source: "Liu et al., Towards Impartial Multi-Task Learning, ICLR 2021",
		Cost:   "K(F+B) + Gram O(K²P) + a K×K eigenproblem", State: "sᵢ per stream", SumW: "not fixed",
	}, func() Method { return new(IMTL) })
}

// IMTL is IMTL-L inside IMTL-G (docs/method.md §4.8). IMTL-G does not see the lengths of the
// gradients, so d lies along the direction of IMTL-G. The scales decide how long d is. They can
// also turn it round, so that losses rise: the weights are divided by their sum, whose sign depends
// on the scales.
type IMTL struct {
	LR   *float64 `param:"lr" default:"0.1" range:"[0,1]" doc:"step size of s, in [0, 1]"`
	Init IMTLInit `param:"init" default:"zero" choices:"zero,loss" doc:"s of a new stream: 0, or −log ℓ, the value at which it would no longer change"`

	setup
	memo[logScale]
	gradients IMTLG
}

// Needs asks for the Gram matrix and the losses, which may not be negative.
func (*IMTL) Needs() Needs { return Needs{Gram: true, Losses: true, PositiveLosses: true} }

// Weights writes the weights of one step to w.
func (m *IMTL) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	scale := make([]float64, s.k())
	scaleLosses(m.memo, s, scale, *m.LR, m.Init)
	return s.onRows(w, func(r *rows) ([]float64, error) {
		for i, a := range r.at {
			for j, b := range r.at {
				r.gram[i*r.k()+j] *= scale[a] * scale[b]
			}
		}
		alpha, err := m.gradients.impartial(r)
		for i := range alpha {
			alpha[i] *= scale[r.at[i]]
		}
		return alpha, err
	})
}
