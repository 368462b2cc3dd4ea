package method

import (
	"encoding/json"
	"math"

	"github.com/parallelcl/parallelcl/internal/limits"
)

func init() { Register(gradVacInfo, GradVac{}) }

var gradVacInfo = Info{
	Name: "gradvac", Title: "GradVac", Family: "mtl",
	Rule:   "for each Jᵢ, and j in random order: if the cosine of Jᵢ and Jⱼ is below its moving mean φᵢⱼ, Jᵢ is turned towards Jⱼ until the cosine is φᵢⱼ; d is the sum",
	Source: "Wang et al., Gradient Vaccine, ICLR 2021 (arXiv 2010.05874)",
	Cost:   "K(F+B) + Gram O(K²P)", State: "φᵢⱼ per pair of streams", SumW: "≥ K if no φᵢⱼ is negative",
	NeedsGram: true,
}

// GradVac is the method "gradvac".
type GradVac struct {
	Beta *float64 `param:"beta" default:"0.5" range:"[0,1]" doc:"β in [0, 1], how fast the moving means of the cosines change: 0 keeps them at 0, which is PCGrad"`
}

func (p GradVac) Start() (Method, error) {
	return &gradVac{beta: *p.Beta, memo: memo[map[int]float64]{}}, nil
}

// gradVac is PCGrad with target cosines, which follow the cosines seen so far (docs/method.md §4.6).
type gradVac struct {
	beta float64
	memo memo[map[int]float64] // φᵢⱼ by i, then j
}

// nearlyOne bounds the target cosine: to reach 1 a gradient would have to become infinitely long.
const nearlyOne = 1 - 1e-6

func (*gradVac) Info() Info { return gradVacInfo }

func (m *gradVac) Weights(s *Step, w []float64) (Outcome, error) {
	r := keep(gradVacInfo, s, w)
	if r.k() == 0 {
		return r.outcome(), nil
	}
	r.balance()
	k, orders := r.k(), [][]int(nil)
	for i := range k {
		order, err := s.others(gradVacInfo, i, k)
		if err != nil {
			return Outcome{}, err
		}
		orders = append(orders, order)
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
	return r.write(v, w), nil
}

// vaccinate turns row i, given and returned as coefficients c in the units of the rows, which are as long as norms say. Each
// other row is added at most once, so that the sizes of what was added never shrink.
func (m *gradVac) vaccinate(s *Step, r *rows, i int, order []int, norms, c []float64) {
	id := s.IDs[r.at[i]]
	if m.memo[id] == nil {
		m.memo[id] = map[int]float64{}
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
			aim := min(target, nearlyOne)
			sine := math.Sqrt(1 - aim*aim)
			c[j] += length * (aim*math.Sqrt(1-cos*cos) - cos*sine) / (norm * sine)
			length = r.longer(length, along, j, c)
			size += math.Abs(c[j]) * norm
		}
		m.memo[id][other] = (1-m.beta)*target + m.beta*cos
	}
}

// longer returns the length of Σ cᵢJᵢ, which was the given one, and had the product along with row j, before c[j] was more than 0.
// The length of many rows is not summed up anew unless it shrinks, which costs digits.
func (r *rows) longer(length, along float64, j int, c []float64) float64 {
	square := length*length + c[j]*(2*along+c[j]*r.dot(j, j))
	if r.k() <= fewRows || !(square > length*length/2) {
		return normOf(r.gram, c)
	}
	return math.Sqrt(square)
}

// fewRows is a number of rows up to which time is no matter, and sums are made anew, in one order.
const fewRows = 16

func (m *gradVac) End(id int) {
	m.memo.End(id)
	for _, targets := range m.memo {
		delete(targets, id)
	}
}

func (m *gradVac) MarshalState() (json.RawMessage, error) { return m.memo.MarshalState() }

func (m *gradVac) UnmarshalState(data json.RawMessage) error {
	return m.memo.restore("gradvac", data, func(targets map[int]float64) error {
		for _, x := range targets {
			if err := limits.Within("a target cosine", x, -1, 1); err != nil {
				return err
			}
		}
		return nil
	})
}
