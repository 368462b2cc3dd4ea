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
	r, err := keep(gradVacInfo, s, w)
	if err != nil || r.k() == 0 {
		return r.outcome(), err
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
	v := make([]float64, k)
	for i, order := range orders {
		c := make([]float64, k)
		c[i] = 1
		m.vaccinate(s, r, i, order, c)
		for j, x := range c {
			v[j] += x * (r.unit[i] / r.unit[j])
		}
	}
	return r.write(v, w), nil
}

// vaccinate turns row i, given and returned as coefficients c in the units of the rows.
func (m *gradVac) vaccinate(s *Step, r *rows, i int, order []int, c []float64) {
	id := s.IDs[r.at[i]]
	if m.memo[id] == nil {
		m.memo[id] = map[int]float64{}
	}
	length := normOf(r.gram, c)
	for _, j := range order {
		other, norm := s.IDs[r.at[j]], math.Sqrt(r.dot(j, j))
		cos := 0.0
		if length > cancelled*r.lengths(c) {
			cos = max(-1, min(1, r.along(j, c)/length/norm))
		}
		target := m.memo[id][other]
		if cos < target {
			aim := min(target, nearlyOne)
			sine := math.Sqrt(1 - aim*aim)
			c[j] += length * (aim*math.Sqrt(1-cos*cos) - cos*sine) / (norm * sine)
			length = normOf(r.gram, c)
		}
		m.memo[id][other] = (1-m.beta)*target + m.beta*cos
	}
}

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
