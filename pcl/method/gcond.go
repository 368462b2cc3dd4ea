package method

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

func init() {
	Register(Info{
		Name: "gcond", Title: "GCond", Family: "mtl",
		Rule: "while two gradients conflict, of the pair with the least cosine the loser is projected on what does not " +
			"hurt the winner, and the winner in part; the worse the conflict, the less; d is the sum",
		Source: "Limarenko et al., GCond: Gradient Conflict Resolution via Accumulation-based Stabilization for " +
			"Large-Scale Multi-Task Learning, arXiv 2509.07252, with one batch per step",
		Cost: "K(F+B) + Gram O(K²P)", State: "the last gradient (P numbers), mean length and row of wins per stream",
		SumW: "≥ K; K without conflict",
	}, func() Method { return new(GCond) })
}

// GCond arbitrates between gradients (docs/method.md §4.16), with the paper's thresholds. The paper
// also adds up the gradients of many batches, for which we have the batch size, and applies a
// momentum, for which we have the optimiser. A stream's mean length begins at its first length; of
// two equal scores the older stream's wins.
type GCond struct {
	Power     float64  `param:"power" default:"2" range:"[0.01,100]" doc:"curvature of the winner's part between the main and the critical threshold"`
	Stability *float64 `param:"stability" default:"0.8" range:"[0,1]" doc:"in [0, 1], how much a gradient's cosine with the stream's last one counts for the winner; the rest is for its length relative to its mean"`
	Beta      *float64 `param:"beta" default:"0.95" range:"[0,0.999999999]" doc:"β in [0, 1), the share of the past in the mean lengths"`
	Window    *float64 `param:"window" default:"3" range:"whole [0,1e9]" doc:"who has won this many conflicts in a row loses the next one; 0 lets it win on"`

	setup
	memo[gCondStream]
}

type gCondStream struct {
	Last vector  `json:"last"`
	Norm float64 `json:"norm" range:"(0,inf)"`        // the mean length
	Wins int     `json:"wins" range:"[0,2147483647]"` // in a row
}

// The cosines at which a conflict becomes critical, gets a winner, and ends.
const gCondCritical, gCondMain, gCondWeak = -0.8, -0.5, 0.0

// Needs asks for the Gram matrix and the gradients.
func (*GCond) Needs() Needs { return Needs{Gram: true, Rows: true} }

// Weights writes the weights of one step to w.
func (m *GCond) Weights(s *Step, w []float64) (Outcome, error) {
	if err := s.enter(m, w); err != nil {
		return Outcome{}, err
	}
	last, err := track(s, func(id int) vector { return m.memo[id].Last })
	if err != nil {
		return Outcome{}, err
	}
	return s.onRows(w, func(r *rows) ([]float64, error) {
		r.balance()
		stable, strong := m.follow(s, r, last)
		grads := make([][]float64, r.k()) // as coefficients of the rows
		for i := range grads {
			grads[i] = make([]float64, r.k())
			grads[i][i] = 1
		}
		cosines := r.cosines()
		for range 2 * r.k() {
			i, j := worst(cosines, r.k())
			cos := cosines[i*r.k()+j]
			if cos >= gCondWeak {
				break
			}
			total := strong[i] + strong[j]
			first := *m.Stability*stable[i] + (1-*m.Stability)*strong[i]/total
			second := *m.Stability*stable[j] + (1-*m.Stability)*strong[j]/total
			if older := s.IDs[r.at[i]] < s.IDs[r.at[j]]; second > first || second == first && !older {
				i, j = j, i
			}
			m.resolve(r, grads, m.award(s.IDs, r.at, i, j), cos)
			r.turn(cosines, grads, i)
			r.turn(cosines, grads, j)
		}
		v := make([]float64, r.k())
		for i, c := range grads {
			for j, x := range c {
				v[j] += x * (r.unit[i] / r.unit[j])
			}
		}
		return v, nil
	})
}

// follow returns how far each gradient has kept its direction, and its length relative to its mean,
// and takes it in.
func (m *GCond) follow(s *Step, r *rows, last []vector) (stable, strong []float64) {
	lengths := s.lengths()
	for _, i := range r.at {
		t, known := m.memo[s.IDs[i]]
		if t.Last = last[i]; !known {
			t.Norm = lengths[i]
		}
		along, was := 0.0, math.Sqrt(product(t.Last, t.Last))
		for p, x := range s.Rows[i] {
			along += x / lengths[i] * float64(t.Last[p])
		}
		t.Norm = *m.Beta*t.Norm + (1-*m.Beta)*lengths[i]
		stable, strong = append(stable, max(0, along)/max(was, math.SmallestNonzeroFloat64)),
			append(strong, lengths[i]/t.Norm)
		approach(t.Last, s.Rows[i], 1, 1)
		m.memo[s.IDs[i]] = t
	}
	return stable, strong
}

// worst returns the pair with the least cosine, or a row and itself if there is no pair.
func worst(cosines []float64, k int) (first, second int) {
	for i := range k {
		for j := range i {
			if cosines[i*k+j] < cosines[first*k+second] {
				first, second = i, j
			}
		}
	}
	return first, second
}

// turn recomputes the cosines of gradient i. A gradient that has become 0 conflicts with no other.
func (r *rows) turn(cosines []float64, grads [][]float64, i int) {
	k, along, n := r.k(), times(r.gram, grads[i]), normOf(r.gram, grads[i])
	for j, c := range grads {
		o := normOf(r.gram, c)
		cos := 1.0
		if j != i && n > cancelled*r.size(grads[i]) && o > cancelled*r.size(c) {
			cos = inner(along, c) / n / o
		}
		cosines[i*k+j], cosines[j*k+i] = cos, cos
	}
}

// award counts the win, of the second if the first has won too often, and returns winner and loser.
func (m *GCond) award(ids, at []int, first, second int) [2]int {
	if n := int(*m.Window); n > 0 && m.memo[ids[at[first]]].Wins >= n {
		first, second = second, first
	}
	for id, t := range m.memo {
		if t.Wins++; id != ids[at[first]] {
			t.Wins = 0
		}
		m.memo[id] = t
	}
	return [2]int{first, second}
}

// resolve takes from each of the two gradients a part of its projection on the other.
func (m *GCond) resolve(r *rows, grads [][]float64, pair [2]int, cos float64) {
	angle := math.Pi
	switch {
	case cos >= gCondMain:
		angle = math.Pi / 2 * (1 - (cos-gCondMain)/(gCondWeak-gCondMain))
	case cos >= gCondCritical:
		angle = math.Pi / 2 * (1 + math.Pow((cos-gCondMain)/(gCondCritical-gCondMain), m.Power))
	}
	winner, loser := grads[pair[0]], slices.Clone(grads[pair[1]])
	n, o := normOf(r.gram, winner), normOf(r.gram, loser)
	floats.AddScaled(grads[pair[1]], -math.Sin(min(angle, math.Pi/2))*cos*o/n, winner)
	floats.AddScaled(winner, -math.Sin(angle)*cos*n/o, loser)
}
