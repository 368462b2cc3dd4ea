package method

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/parallelcl/parallelcl/emgd"
	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// summed is a step in which the memory's rows are one row, their sum: J′ = SJ, M′ = SMSᵀ, and w =
// Sᵀw′, where the first row of S adds up the memory's rows (docs/method.md §8.2).
type summed struct {
	rows, penalty bool // whether the rows of samples are joined, and the penalty's row

	to   []int // the row of the joined step to which each row belongs
	step Step
	w    []float64
	row  []float64
}

// several says whether there is anything to be joined: more than one memory row, or one under
// another id.
func (j *summed) several(s *Step) bool {
	return slices.ContainsFunc(s.IDs, func(id int) bool { return id != MemoryID && j.joins(id) })
}

// joins says whether a row is a part of the joined one.
func (j *summed) joins(id int) bool {
	switch {
	case id == MemoryID:
		return true
	case id == rehearsal.PenaltyID:
		return j.penalty
	}
	return id < MemoryID && j.rows
}

// of joins the memory's rows in those fields of a step that a rule reads. It returns an error if no
// gradients have such sums.
func (j *summed) of(s *Step, needs Needs) error {
	j.to, j.step = fp.Grow(j.to, s.k()), Step{Rand: s.Rand, IDs: []int{MemoryID}}
	for i, id := range s.IDs {
		if j.to[i] = 0; !j.joins(id) {
			j.to[i] = len(j.step.IDs)
			j.step.IDs = append(j.step.IDs, id)
		}
	}
	k := len(j.step.IDs)
	j.w = fp.Grow(j.w, k)
	if needs.Losses {
		j.step.Losses = make([]float64, k)
		for i, x := range s.Losses {
			j.step.Losses[j.to[i]] += x
		}
	}
	if needs.Gram {
		j.step.Gram = j.products(s.Gram)
		j.settle(s.Gram)
		if s.Problem != nil {
			p, err := emgd.NewProblem(j.step.Gram)
			if err != nil {
				return err
			}
			j.step.Problem = p.Ldexp(s.exponent())
		}
	}
	if needs.Cross {
		j.step.Cross = j.products(s.Cross)
	}
	if needs.Rows {
		j.joinRows(s)
	}
	return nil
}

// products is SMSᵀ.
func (j *summed) products(m []float64) []float64 {
	n, k := len(j.to), len(j.step.IDs)
	out := make([]float64, k*k)
	for a := range n {
		for b := range n {
			out[j.to[a]*k+j.to[b]] += m[a*n+b]
		}
	}
	return out
}

// settle brings the products of the joined row back within |M′₀ᵢ| ≤ √(M′₀₀M′ᵢᵢ), which rounding may
// have broken where the memory's rows nearly cancel. Where only rounding is left of them, the
// joined row is 0. Larger breaches stay, for the rule to refuse.
func (j *summed) settle(m []float64) {
	n, k, parts := len(j.to), len(j.step.IDs), 0.0
	for i, to := range j.to {
		if to == 0 {
			parts += math.Sqrt(m[i*n+i])
		}
	}
	gram := j.step.Gram
	if x := gram[0]; x <= cancelled*cancelled*parts*parts && x >= -roundingOfProducts*parts*parts {
		gram[0] = 0
	}
	for i := 1; i < k; i++ {
		length := math.Sqrt(gram[i*k+i])
		most := math.Sqrt(max(gram[0], 0)) * length
		for _, at := range []int{i, i * k} {
			if math.Abs(gram[at]) <= most+roundingOfProducts*parts*length {
				gram[at] = min(max(gram[at], -most), most)
			}
		}
	}
}

// roundingOfProducts is the largest error that inner products may have, as a part of the lengths:
// the rounding of sums in float32.
const roundingOfProducts = 1e-5

// joinRows is SJ. Rows that are not joined are shared with the step.
func (j *summed) joinRows(s *Step) {
	j.row = fp.Grow(j.row, len(s.Rows[0]))
	clear(j.row)
	j.step.Rows = make([][]float64, len(j.step.IDs))
	j.step.Rows[0] = j.row
	for i, row := range s.Rows {
		if j.to[i] > 0 {
			j.step.Rows[j.to[i]] = row
			continue
		}
		floats.Add(j.row, row)
	}
}

// spread is w = Sᵀw′. If the joined row was dropped, all the memory's rows were.
func (j *summed) spread(s *Step, w []float64, out *Outcome) {
	for i, to := range j.to {
		w[i] = j.w[to]
	}
	out.Summed = &Summed{IDs: j.step.IDs, Losses: j.step.Losses, Gram: j.step.Gram, Weights: j.w, RowOf: j.to}
	if !slices.Contains(out.Dropped, MemoryID) {
		return
	}
	dropped := slices.DeleteFunc(slices.Clone(out.Dropped), func(id int) bool { return id == MemoryID })
	for _, id := range s.IDs {
		if j.joins(id) {
			dropped = append(dropped, id)
		}
	}
	out.Dropped = dropped
}
