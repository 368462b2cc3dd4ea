package method

import "fmt"

func init() { Register(pcGradInfo, PCGrad{}) }

var pcGradInfo = Info{
	Name: "pcgrad", Title: "PCGrad", Family: "mtl",
	Rule:   "for each Jᵢ, and j in random order: if Jᵢ conflicts with Jⱼ, its projection on Jⱼ is subtracted; d is the sum",
	Source: "Yu et al., Gradient Surgery for Multi-Task Learning, NeurIPS 2020 (arXiv 2001.06782)",
	Cost:   "K(F+B) + Gram O(K²P)", State: "none", SumW: "≥ K; K without conflict",
	NeedsGram: true,
}

// PCGrad keeps each projected gradient as coefficients over the gradients, so that the Gram matrix
// is all it needs (docs/method.md §4.6).
type PCGrad struct{}

func (PCGrad) Weights(s *Step, w []float64) (Outcome, error) {
	r := keep(pcGradInfo, s, w)
	if r.k() == 0 {
		return r.outcome(), nil
	}
	r.balance()
	k := r.k()
	v := make([]float64, k)
	for i := range k {
		c := make([]float64, k)
		c[i] = 1
		others, err := s.others(pcGradInfo, i, k)
		if err != nil {
			return Outcome{}, err
		}
		for _, j := range others {
			if along := r.along(j, c); along < 0 {
				c[j] -= along / r.dot(j, j)
			}
		}
		for j, x := range c {
			v[j] += x * (r.unit[i] / r.unit[j])
		}
	}
	return r.write(v, w), nil
}

// others returns the rows but i in random order; the order of one row needs no drawing.
func (s *Step) others(info Info, i, k int) ([]int, error) {
	var rest []int
	for j := range k {
		if j != i {
			rest = append(rest, j)
		}
	}
	if len(rest) < 2 {
		return rest, nil
	}
	if s.Rand == nil {
		return nil, fmt.Errorf("method %s: it draws at random and the step has no Rand", info.Name)
	}
	s.Rand.Shuffle(len(rest), func(a, b int) { rest[a], rest[b] = rest[b], rest[a] })
	return rest, nil
}
