package method

import (
	"cmp"
	"math"
	"slices"
)

func init() {
	Register(Info{
		Name: "krum", Title: "Krum", Family: "mtl",
		Rule: "d is the mean of the m gradients with the smallest Σ ‖Jᵢ−Jⱼ‖² over their K−f−2 nearest " +
			"Jⱼ, or of all gradients if K < f+3",
		Source: "Blanchard et al., Machine Learning with Adversaries: Byzantine Tolerant Gradient Descent, NeurIPS 2017 " +
			"(arXiv 1703.02757)",
		Cost: "K(F+B) + Gram O(K²P)", State: "none", SumW: "1",
	}, func() Method { return new(Krum) })
}

// Krum takes the gradients that have the closest neighbours. Of equal ones it takes the stream with
// the smaller id, as the paper says. Its guarantee needs K > 2f+2. With fewer than f+3 streams
// there are no neighbours to compare with, and all streams count. No more than K streams are ever
// selected.
type Krum struct {
	Byzantine *float64 `param:"byzantine" default:"1" range:"whole [0,1e6]" doc:"f, the number of streams that are not to be trusted"`
	Selected  float64  `param:"selected" default:"1" range:"whole [1,1e6]" doc:"m, the number of streams whose mean is taken: 1 is Krum, more is Multi-Krum"`

	setup
}

// Needs asks for the Gram matrix.
func (*Krum) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *Krum) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	k, order, scores := s.k(), make([]int, s.k()), make([]float64, s.k())
	for i := range k {
		order[i], scores[i] = i, crowding(s.Gram, k, i, k-int(*m.Byzantine)-2)
	}
	selected := min(int(m.Selected), k)
	if k < int(*m.Byzantine)+3 {
		selected = k
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(scores[i], scores[j]), cmp.Compare(s.IDs[i], s.IDs[j]))
	})
	clear(w)
	for _, i := range order[:selected] {
		w[i] = 1 / float64(selected)
	}
	return Outcome{}, nil
}

// crowding is the sum of the squared distances from row i to its nearest rows.
func crowding(gram []float64, k, i, nearest int) float64 {
	var distances []float64
	for j := range k {
		if j != i {
			a, b, ab := gram[i*k+i], gram[j*k+j], gram[i*k+j]/2+gram[j*k+i]/2
			distances = append(distances, math.Max(a+b-2*ab, 0))
		}
	}
	slices.Sort(distances)
	return sumOf(distances[:max(nearest, 0)])
}
