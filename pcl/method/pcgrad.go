package method

func init() {
	Register(Info{
		Name: "pcgrad", Title: "PCGrad", Family: "mtl",
		Rule: "for each Jᵢ, and j in random order: if Jᵢ conflicts with Jⱼ, its projection on Jⱼ is subtracted; " +
			"d is the sum",
		Source: "Yu et al., Gradient Surgery for Multi-Task Learning, NeurIPS 2020 (arXiv 2001.06782)",
		Cost:   "K(F+B) + Gram O(K²P)", State: "none", SumW: "≥ K; K without conflict",
	}, func() Method { return new(PCGrad) })
}

// PCGrad keeps each projected gradient as coefficients over the gradients, so that the Gram matrix
// is all it needs (docs/method.md §4.6).
type PCGrad struct{}

// Needs asks for the Gram matrix.
func (*PCGrad) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *PCGrad) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, func(r *rows) ([]float64, error) {
		r.balance()
		v := make([]float64, r.k())
		for i := range v {
			c := make([]float64, r.k())
			c[i] = 1
			for _, j := range s.others(i, r.k()) {
				if along := r.along(j, c); along < 0 {
					c[j] -= along / r.dot(j, j)
				}
			}
			for j, x := range c {
				v[j] += x * (r.unit[i] / r.unit[j])
			}
		}
		return v, nil
	})
}

// others returns the rows but i in random order; the order of one row needs no drawing.
func (s *Step) others(i, k int) (rest []int) {
	for j := range k {
		if j != i {
			rest = append(rest, j)
		}
	}
	if len(rest) > 1 {
		s.random().Shuffle(len(rest), func(a, b int) { rest[a], rest[b] = rest[b], rest[a] })
	}
	return rest
}
