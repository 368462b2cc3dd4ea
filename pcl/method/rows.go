package method

import (
	"math"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
)

// rows is the part of a step that a rule on the Gram matrix works with: the streams whose gradient
// is not zero next to the longest one (docs/method.md §1.5). A rule runs over them as if the others
// were not there, and [rows.write] brings its weights back into the order of the step.
type rows struct {
	at      []int     // indices of the rows kept, in the step's order
	gram    []float64 // their Gram matrix, row i divided by unit[i] and column j by unit[j]
	unit    []float64 // powers of two, so that dividing by them does not round
	dropped []int     // ids of the others
}

// onRows runs a rule that only the directions and the relative lengths of the gradients matter to:
// over the rows kept, of which the longest is brought to a length in [1,2). The rule returns their
// weights.
func (s *Step) onRows(w []float64, rule func(r *rows) ([]float64, error)) (Outcome, error) {
	r := keep(s, w)
	if r.k() == 0 {
		return r.outcome(), nil
	}
	r.level()
	v, err := rule(r)
	if err != nil {
		return Outcome{}, err
	}
	return r.write(v, w), nil
}

// keep takes out a step's converged rows, ‖Jᵢ‖ ≤ 1e-12·max‖J‖. Where no row is left, all weights
// are set to 1/K and the step d is 0 whatever they are.
func keep(s *Step, w []float64) *rows {
	k, r := s.k(), &rows{}
	bound := emgd.DefaultZeroTol * emgd.DefaultZeroTol * longest(s.Gram, k)
	for i, id := range s.IDs {
		if s.Gram[i*k+i] > bound {
			r.at = append(r.at, i)
		} else {
			r.dropped = append(r.dropped, id)
		}
	}
	r.unit = make([]float64, r.k())
	fill(r.unit, math.Ldexp(1, s.exponent()))
	r.gram = make([]float64, 0, r.k()*r.k())
	for _, i := range r.at {
		for _, j := range r.at {
			r.gram = append(r.gram, s.Gram[i*k+j]/2+s.Gram[j*k+i]/2)
		}
	}
	clear(w)
	if r.k() == 0 {
		fill(w, 1/float64(k))
	}
	return r
}

// longest is the largest squared length in a k×k Gram matrix.
func longest(gram []float64, k int) (top float64) {
	for i := range k {
		top = max(top, gram[i*k+i])
	}
	return top
}

// lengths returns the lengths of all gradients, which may be infinite where float64 cannot hold
// them.
func (s *Step) lengths() []float64 {
	n := make([]float64, s.k())
	for i := range n {
		n[i] = math.Ldexp(math.Sqrt(s.Gram[i*s.k()+i]), s.exponent())
	}
	return n
}

// ids are the streams of the rows kept.
func (r *rows) ids(s *Step) []int {
	ids := make([]int, r.k())
	for i, at := range r.at {
		ids[i] = s.IDs[at]
	}
	return ids
}

// k is the number of rows kept.
func (r *rows) k() int { return len(r.at) }

// dot is ĴᵢĴⱼ, the inner product of two rows in their units.
func (r *rows) dot(i, j int) float64 { return r.gram[i*r.k()+j] }

// level brings the longest row to a length in [1,2), all rows by the same factor.
func (r *rows) level() {
	u := make([]float64, r.k())
	fill(u, fp.PowerOfTwo(math.Sqrt(longest(r.gram, r.k()))))
	r.divide(u)
}

// balance brings every row to a length in [1,2).
func (r *rows) balance() {
	u := make([]float64, r.k())
	for i := range u {
		u[i] = fp.PowerOfTwo(math.Sqrt(r.dot(i, i)))
	}
	r.divide(u)
}

func (r *rows) divide(u []float64) {
	k := r.k()
	for i := range k {
		for j := range k {
			r.gram[i*k+j] = r.gram[i*k+j] / u[i] / u[j]
		}
		r.unit[i] *= u[i]
	}
}

// write puts the weights v of the rows kept into w; the dropped rows have weight 0.
func (r *rows) write(v, w []float64) Outcome {
	for i, at := range r.at {
		w[at] = v[i]
	}
	return r.outcome()
}

// outcome names the dropped rows.
func (r *rows) outcome() Outcome { return Outcome{Dropped: r.dropped} }

// size is Σ |vᵢ|‖Jᵢ‖, the scale to which rounding errors of Σ vᵢJᵢ are relative.
func (r *rows) size(v []float64) (sum float64) {
	for i, x := range v {
		sum += math.Abs(x) * math.Sqrt(r.dot(i, i))
	}
	return sum
}

// norms are the lengths of the rows in their units.
func (r *rows) norms() []float64 {
	n := make([]float64, r.k())
	for i := range n {
		n[i] = math.Sqrt(r.dot(i, i))
	}
	return n
}

// cosines is the Gram matrix of the rows brought to length 1.
func (r *rows) cosines() []float64 {
	k, n := r.k(), r.norms()
	c := make([]float64, k*k)
	for i := range k {
		for j := range k {
			c[i*k+j] = r.dot(i, j) / n[i] / n[j]
		}
		c[i*k+i] = 1
	}
	return c
}

// along is Ĵⱼ·Σ cᵢĴᵢ.
func (r *rows) along(j int, c []float64) float64 {
	return inner(r.gram[j*r.k():(j+1)*r.k()], c)
}
