package method

import (
	"maps"
	"math"

	"github.com/parallelcl/parallelcl/pcl/params"
)

func init() {
	Register(Info{
		Name: "gradvac", Title: "GradVac", Family: "mtl",
		Rule: "for each Jᵢ, and j in random order: if the cosine of Jᵢ and Jⱼ is below its moving average " +
			"φᵢⱼ, Jᵢ is turned towards Jⱼ until the cosine is φᵢⱼ; d is the sum",
		Source: "Wang et al., Gradient Vaccine, ICLR 2021 (arXiv 2010.05874)",
		Cost:   "K(F+B) + Gram O(K²P)", State: "φᵢⱼ per pair of streams", SumW: "≥ K if no φᵢⱼ is negative",
	}, func() Method { return new(GradVac) })
}

// GradVac is PCGrad with target cosines, which follow the cosines seen so far (docs/method.md
// §4.6).
type GradVac struct {
	Beta *float64 `param:"beta" default:"0.5" range:"[0,1]" doc:"β in [0, 1], how fast the moving averages of the cosines change: 0 keeps them at 0, which is PCGrad"`

	setup
	memo[targets]
}

// targets are the φᵢⱼ of stream i, by j.
type targets map[int]float64

// nearlyOne bounds the target cosine: to reach 1 a gradient would have to become infinitely long.
const nearlyOne = 1 - 1e-6

// Needs asks for the Gram matrix.
func (*GradVac) Needs() Needs { return Needs{Gram: true} }

// Weights writes the weights of one step to w.
func (m *GradVac) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, func(r *rows) ([]float64, error) {
		r.balance()
		k, orders := r.k(), [][]int(nil)
		for i := range k {
			orders = append(orders, s.others(i, k))
		}
		v, norms := make([]float64, k), r.norms()
		for i, order := range orders {
			c := make([]float64, k)
			c[i] = 1
			m.vaccinate(s, r, i, order, norms, c)
			for j, x := range c {
				v[j] += x * (r.unit[i] / r.unit[j])
			}
		}
		return v, nil
	})
}

// vaccinate turns row i, given and returned as coefficients c in the units of the rows, which are
// as long as norms say. Each other row is added at most once, so that the sizes of what was added
// never shrink.
func (m *GradVac) vaccinate(s *Step, r *rows, i int, order []int, norms, c []float64) {
	id := s.IDs[r.at[i]]
	if m.memo[id] == nil {
		m.memo[id] = targets{}
	}
	length, size := normOf(r.gram, c), norms[i]
	for _, j := range order {
		other, norm := s.IDs[r.at[j]], norms[j]
		cos, along := 0.0, r.along(j, c)
		if length > cancelled*size {
			cos = max(-1, min(1, along/length/norm))
		}
		target := m.memo[id][other]
		if cos < target {
			goal := min(target, nearlyOne)
			sine := math.Sqrt(1 - goal*goal)
			c[j] += length * (goal*math.Sqrt(1-cos*cos) - cos*sine) / (norm * sine)
			length = r.longer(length, along, j, c)
			size += math.Abs(c[j]) * norm
		}
		m.memo[id][other] = (1-*m.Beta)*target + *m.Beta*cos
	}
}

// longer returns the length of Σ cᵢJᵢ, which was the given one, and had the product along with row
// j, before c[j] was more than 0. For many rows the length is recomputed only if it shrinks,
// because that costs digits.
func (r *rows) longer(length, along float64, j int, c []float64) float64 {
	square := length*length + c[j]*(2*along+c[j]*r.dot(j, j))
	if r.k() <= fewRows || !(square > length*length/2) {
		return normOf(r.gram, c)
	}
	return math.Sqrt(square)
}

// fewRows is the number of rows up to which speed does not matter, and every length is recomputed.
const fewRows = 16

func (t targets) without(_, ended int) targets {
	delete(t, ended)
	return t
}

func (t targets) clone() targets { return maps.Clone(t) }

func (t targets) check() error {
	for _, x := range t {
		if err := params.CheckRange(x, "[-1,1]"); err != nil {
			return err
		}
	}
	return nil
}
