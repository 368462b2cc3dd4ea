package method

import (
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
)

func init() {
	Register(Info{
		Name: "trimmed-mean", Title: "Trimmed mean", Family: "mtl",
		Rule: "in every coordinate, the mean of the entries that are left without the largest and the smallest ones",
		Source: "Yin et al., Byzantine-Robust Distributed Learning: Towards Optimal Statistical Rates, ICML 2018 (arXiv " +
			"1803.01498)",
		Cost: "K(F+B) + O(KP log K)", State: "none", SumW: "1 (nominal)",
	}, func() Method { return new(TrimmedMean) })
}

// TrimmedMean leaves out at most (K−1)/2 entries at each end: one or two streams are averaged, and
// three or four at trim = 1 or more have the median. The nominal weights are 1/K.
type TrimmedMean struct {
	Trim *float64 `param:"trim" default:"1" range:"whole [0,1e6]" doc:"how many of the largest and how many of the smallest entries are left out in each coordinate; fewer if none would be left"`

	setup
	d []float64
}

// Needs asks for the Gram matrix and the gradients. The step is along Outcome.Direction.
func (*TrimmedMean) Needs() Needs { return Needs{Gram: true, Rows: true, Direction: true} }

// Weights writes the weights of one step to w.
func (m *TrimmedMean) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	k := s.k()
	trim, column := min(int(*m.Trim), (k-1)/2), make([]float64, k)
	m.d = fp.Grow(m.d, len(s.Rows[0]))
	for p := range m.d {
		for i, row := range s.Rows {
			column[i] = row[p]
		}
		slices.Sort(column)
		m.d[p] = sumOf(column[trim:k-trim]) / float64(k-2*trim)
	}
	fill(w, 1/float64(k))
	return Outcome{Direction: m.d}, nil
}
