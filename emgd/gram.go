package emgd

import (
	"fmt"
	"math"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// scaledGram is a Gram matrix whose rows may have been divided by powers of two before they were
// multiplied: m holds J_i·J_j / 2^(exp_i+exp_j).
type scaledGram struct {
	k   int
	m   []float64 // row-major k×k
	lo  []float64 // what rounding took from m; nil where it is not known
	exp []int     // nil where all are 0
}

func (g *scaledGram) exponent(i int) int {
	if g.exp == nil {
		return 0
	}
	return g.exp[i]
}

// square is ‖J_i‖² / 4^exp_i.
func (g *scaledGram) square(i int) float64 { return g.m[i*g.k+i] }

// length returns ‖J_i‖ as x·2^e with 1 ≤ x < 2, and 0, 0 for a gradient of length 0.
func (g *scaledGram) length(i int) (x float64, e int) {
	m := g.square(i)
	if m == 0 {
		return 0, 0
	}
	h := fp.HalfExponent(m)
	return math.Sqrt(math.Ldexp(m, -2*h)), h + g.exponent(i)
}

// ordinary bounds the exponents of gradients whose products, with those of gradients a million million
// times shorter, keep all their digits.
const ordinary = 400

// Gram returns the Gram matrix JJᵀ of the rows of J, row-major, divided by 4^exponent. The exponent is
// 0 for gradients of ordinary size; otherwise the rows are divided by 2^exponent before they are
// multiplied, so that no product leaves the range of float64. Rows that are shorter than the longest by
// more than 150 powers of ten may come out as 0; [Solver.SolveRows] keeps even those.
func Gram(rows [][]float64) (gram []float64, exponent int, err error) {
	exps, err := rowExponents(rows)
	if err != nil {
		return nil, 0, err
	}
	exponent = math.MinInt
	for i, e := range exps {
		if largest(rows[i]) > 0 {
			exponent = max(exponent, e)
		}
	}
	if -ordinary <= exponent && exponent <= ordinary || exponent == math.MinInt {
		return products(rows), 0, nil
	}
	for i := range exps {
		exps[i] = exponent
	}
	gram = products(divided(rows, exps))
	more := Level(gram, len(rows))
	return gram, exponent + more, nil
}

// Level divides a K×K Gram matrix, in place, by the power of four that brings the largest squared length to
// [1, 4). That divides the gradients by a power of two, whose exponent it returns. It panics if gram has fewer than K²
// entries.
func Level(gram []float64, k int) (exponent int) {
	top := 0.0
	for i := range k {
		top = max(top, gram[i*k+i])
	}
	if top == 0 {
		return 0
	}
	exponent = fp.HalfExponent(top)
	for i, x := range gram {
		gram[i] = math.Ldexp(x, -2*exponent)
	}
	return exponent
}

// products is the Gram matrix of the rows.
func products(rows [][]float64) []float64 {
	k := len(rows)
	out := make([]float64, k*k)
	for i, row := range rows {
		for j, other := range rows[:i+1] {
			v := 0.0
			for p, x := range row {
				v += x * other[p]
			}
			out[i*k+j], out[j*k+i] = v, v
		}
	}
	return out
}

// scaledRows divides every row by a power of two of its own before the products, and makes these in
// twice the precision of float64.
func scaledRows(rows [][]float64) (*scaledGram, error) {
	exps, err := rowExponents(rows)
	if err != nil {
		return nil, err
	}
	rows = divided(rows, exps)
	k := len(rows)
	g := &scaledGram{k: k, m: make([]float64, k*k), lo: make([]float64, k*k), exp: exps}
	for i, row := range rows {
		for j, other := range rows[:i+1] {
			v := twofold{}
			for p, x := range row {
				v = v.addProduct(x, other[p])
			}
			g.m[i*k+j], g.m[j*k+i] = v.hi, v.hi
			g.lo[i*k+j], g.lo[j*k+i] = v.lo, v.lo
		}
	}
	return g, nil
}

// rowExponents returns, for each row, the exponent of its largest entry, and 0 for a row of zeros.
func rowExponents(rows [][]float64) ([]int, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("emgd: no gradients: the Jacobian has no rows")
	}
	exps := make([]int, len(rows))
	for i, row := range rows {
		if len(row) != len(rows[0]) {
			return nil, fmt.Errorf("emgd: gradient %d has %d entries, gradient 0 has %d", i, len(row), len(rows[0]))
		}
		for p, x := range row {
			if x-x != 0 {
				return nil, fmt.Errorf("emgd: entry %d of gradient %d is %v; leave streams without a finite gradient out", p, i, x)
			}
		}
		if top := largest(row); top > 0 {
			exps[i] = math.Ilogb(top)
		}
	}
	return exps, nil
}

func largest(row []float64) (top float64) {
	for _, x := range row {
		top = max(top, math.Abs(x))
	}
	return top
}

// divided returns the rows divided by 2^exps.
func divided(rows [][]float64, exps []int) [][]float64 {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		out[i] = make([]float64, len(row))
		for p, x := range row {
			out[i][p] = math.Ldexp(x, -exps[i])
		}
	}
	return out
}
