package emgd

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// Problem is the Gram matrix JJᵀ of K gradients, checked once and scaled once by powers of two, one
// for each gradient, so that its entries are of ordinary size whatever the gradients are.
// [NewProblem] and [FromGradients] make it, and nothing changes it.
type Problem struct {
	k    int
	c    []float64   // J_i·J_j / 2^(exp_i+exp_j), K×K and symmetric; C_ii is in [1,4), or 0
	lo   []float64   // what rounding took from c; nil where it is not known
	exp  []int       // ‖J_i‖ is between 2^exp_i and 2^(exp_i+1); 0 for a gradient of length 0
	rows [][]float64 // the gradients, if they are known
}

const (
	// rounding is the largest asymmetry and the largest excess over the Cauchy–Schwarz bound that
	// is taken for rounding, relative to ‖J_i‖‖J_j‖. Gram matrices accumulated in float32 pass.
	rounding = 1e-5
	// underflown bounds what the square of a short gradient may have lost to underflow; it is
	// allowed for where the gradient is then left out: next to one whose square is above
	// longSquare, and where all is lost.
	underflown, longSquare = 0x1p-1050, 0x1p-900
	// ordinary bounds the exponents of gradients whose products, with those of gradients a million
	// million times shorter, keep all their digits.
	ordinary                 = 400
	smallSquare, largeSquare = 0x1p-800, 0x1p800
)

// NewProblem checks that gram may be the Gram matrix of K gradients, K×K and row by row, and scales
// it: its entries are finite, its halves agree, and no two gradients contradict each other.
// [Problem.PositiveSemidefinite] says whether all of them can be together. An error names the row
// and the entry at fault, counted from 1. Of two halves that differ by rounding the mean counts.
//
// The matrix may have any scale, but the squares of gradients shorter than 1e-150 or longer than
// 1e150 leave the range of float64: [FromGradients] scales before it multiplies.
func NewProblem(gram []float64) (*Problem, error) {
	k := int(math.Sqrt(float64(len(gram))))
	switch {
	case k == 0:
		return nil, errors.New("there are no gradients")
	case len(gram) != k*k:
		return nil, fmt.Errorf("the gram matrix has %d entries, which is not the square of a number of gradients", len(gram))
	}
	top := 0.0
	for at, x := range gram {
		i, j := at/k, at%k
		switch {
		case x-x != 0:
			return nil, fmt.Errorf("gram row %d, entry %d is %g: leave streams without a finite gradient out", i+1, j+1, x)
		case i == j && x < 0:
			return nil, fmt.Errorf("gram row %d, entry %d is %g: the square of a gradient's length is not negative", i+1, i+1, x)
		case i == j:
			top = max(top, x)
		}
	}
	if err := checkPairs(gram, k, top); err != nil {
		return nil, err
	}
	return scaled(gram, k), nil
}

// checkPairs refuses products that no two gradients can have; top is the largest squared length.
func checkPairs(gram []float64, k int, top float64) error {
	for i := range k {
		for j := range i {
			a, b, lost := gram[i*k+j], gram[j*k+i], 0.0
			if top > longSquare || gram[i*k+i] == 0 || gram[j*k+j] == 0 {
				lost = underflown
			}
			bound := math.Sqrt(gram[i*k+i]+lost) * math.Sqrt(gram[j*k+j]+lost)
			hint := ""
			if a != 0 && math.Abs(a) < fp.Smallest {
				hint = "; entries below 2e-308 have lost their digits: scale the gradients up before multiplying them"
			}
			if a != b && !(math.Abs(a-b) <= rounding*bound) {
				return fmt.Errorf("the gram matrix is not symmetric: row %d, entry %d is %g, but row %d, entry %d is %g%s", i+1,
					j+1, a, j+1, i+1, b, hint)
			}
			if !(math.Abs(a) <= (1+rounding)*bound) {
				return fmt.Errorf("gram row %d, entry %d is %g: no gradients of the lengths that entries %d and %d of the "+
					"diagonal give have such a product%s", i+1, j+1, a, j+1, i+1, hint)
			}
		}
	}
	return nil
}

// scaled divides the gradients of a Gram matrix by powers of two near their lengths, which does not
// round.
func scaled(gram []float64, k int) *Problem {
	p := &Problem{k: k, c: make([]float64, k*k), exp: make([]int, k)}
	inv := make([]float64, k)
	for i := range k {
		if m := gram[i*k+i]; m > 0 {
			p.exp[i] = fp.HalfExponent(m)
		}
		inv[i] = math.Ldexp(1, -p.exp[i])
		for j := range i {
			v := 0.5*(gram[i*k+j]*inv[i]*inv[j]) + 0.5*(gram[j*k+i]*inv[i]*inv[j])
			p.c[i*k+j], p.c[j*k+i] = v, v
		}
		p.c[i*k+i] = gram[i*k+i] * inv[i] * inv[i]
	}
	return p
}

// FromGradients is NewProblem for the gradients themselves, K rows with the same number of entries,
// which the problem keeps: they may not change as long as it is used. Their sizes may be anything
// that float64 holds, and may differ by any factor. Where the rounding of their products would show
// in a solution, the products are made again in twice the precision.
func FromGradients(rows [][]float64) (*Problem, error) {
	k := len(rows)
	if k == 0 {
		return nil, errors.New("there are no gradients")
	}
	for i, row := range rows {
		if len(row) != len(rows[0]) {
			return nil, fmt.Errorf("jacobian row %d has %d entries, row 1 has %d", i+1, len(row), len(rows[0]))
		}
		for at, x := range row {
			if x-x != 0 {
				return nil, fmt.Errorf("jacobian row %d, entry %d is %g: leave streams without a finite gradient out", i+1, at+1, x)
			}
		}
	}
	gram := make([]float64, k*k)
	for i, row := range rows {
		for j, other := range rows[:i+1] {
			v := dot(row, other)
			gram[i*k+j], gram[j*k+i] = v, v
		}
		if m := gram[i*k+i]; (m < smallSquare || m > largeSquare) && largest(row) > 0 {
			return (&Problem{k: k, rows: rows}).exact(), nil
		}
	}
	p := scaled(gram, k)
	p.rows = rows
	return p, nil
}

// exact is the problem with products in twice the precision of float64, as far as its gradients are
// known.
func (p *Problem) exact() *Problem {
	if p.rows == nil || p.lo != nil {
		return p
	}
	k := p.k
	hi, lo, exp, rows := make([]float64, k*k), make([]float64, k*k), make([]int, k), make([][]float64, k)
	for i, row := range p.rows {
		if top := largest(row); top > 0 {
			exp[i] = math.Ilogb(top)
		}
		for _, x := range row {
			rows[i] = append(rows[i], math.Ldexp(x, -exp[i]))
		}
		for j, other := range rows[:i+1] {
			v := doubleDouble{}
			for at, x := range rows[i] {
				v = v.addProduct(x, other[at])
			}
			hi[i*k+j], hi[j*k+i] = v.hi, v.hi
			lo[i*k+j], lo[j*k+i] = v.lo, v.lo
		}
	}
	q := scaled(hi, k)
	q.lo, q.rows = lo, p.rows
	for at := range lo {
		lo[at] = math.Ldexp(lo[at], -q.exp[at/k]-q.exp[at%k])
	}
	for i, e := range exp {
		q.exp[i] += e
	}
	return q
}

// dot adds up in order, unlike floats.Dot, whose sum depends on the processor.
func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func largest(row []float64) (top float64) {
	for _, x := range row {
		top = max(top, math.Abs(x))
	}
	return top
}

// PositiveSemidefinite reports whether K gradients with this Gram matrix can exist, where any two
// can: whether its cosines have a Cholesky factor. Rounding may give them an eigenvalue of
// −K·rounding, so that much is added to the diagonal.
func (p *Problem) PositiveSemidefinite() bool {
	k := p.k
	if k <= 2 {
		return true
	}
	cosines := make([]float64, k*k)
	for i := range k {
		for j := range i {
			cosines[i*k+j] = cosine(p.c[i*k+j], p.square(i), p.square(j))
		}
		cosines[i*k+i] = 1 + float64(k)*rounding
	}
	_, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: k, Stride: k, Data: cosines})
	return ok
}

// square is ‖J_i‖² / 4^exp_i.
func (p *Problem) square(i int) float64 { return p.c[i*p.k+i] }

// Length is ‖J_i‖, which may be infinite where float64 cannot hold it.
func (p *Problem) Length(i int) float64 { return math.Ldexp(math.Sqrt(p.square(i)), p.exp[i]) }

// relative is ‖J_i‖²/4^exponent.
func (p *Problem) relative(i, exponent int) float64 {
	return math.Ldexp(p.square(i), 2*(p.exp[i]-exponent))
}

// longest is the largest exponent of a gradient that is not 0, if there is one.
func (p *Problem) longest() (top int, some bool) {
	for i, e := range p.exp {
		if p.square(i) > 0 && (!some || e > top) {
			top, some = e, true
		}
	}
	return top, some
}

// Exponent is the exponent of the unit of [Problem.Gram]: 0 for gradients of ordinary size.
func (p *Problem) Exponent() int {
	top, _ := p.longest()
	if -ordinary <= top && top <= ordinary {
		return 0
	}
	return top
}

// Gram returns the Gram matrix of the gradients divided by 2^[Problem.Exponent], K×K, in which the
// longest gradient has an ordinary size. Gradients that are shorter by more than 150 powers of ten
// may come out as 0.
func (p *Problem) Gram() []float64 {
	gram, exponent := make([]float64, len(p.c)), p.Exponent()
	for at, x := range p.c {
		gram[at] = math.Ldexp(x, p.exp[at/p.k]+p.exp[at%p.k]-2*exponent)
	}
	return gram
}

// Ldexp returns the problem of the gradients multiplied by 2^exponent.
func (p *Problem) Ldexp(exponent int) *Problem {
	q := *p
	q.exp, q.rows = slices.Clone(p.exp), nil
	for i := range q.exp {
		q.exp[i] += exponent
	}
	return &q
}

// Subset returns the problem of the given gradients.
func (p *Problem) Subset(rows []int) *Problem {
	q := &Problem{k: len(rows)}
	for _, i := range rows {
		q.exp = append(q.exp, p.exp[i])
		for _, j := range rows {
			q.c = append(q.c, p.c[i*p.k+j])
		}
	}
	return q
}
