package emgd

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// Verify checks the certificate against the problem it was made from, independently of how it
// was computed, with a tolerance tol relative to scale_i (1e-9 is a good choice). It returns nil if
// the certificate proves what its status says, and otherwise says which condition fails. Weights, slacks, ‖d‖²,
// level and the lists of rows are checked; Violation, Gap, Cancellation and Iterations, which tell how a solve went,
// are not. How short a row has to be to be left out is the solver's ZeroTol, which a certificate does not have: of a row in Dropped it is
// checked that some other row is longer.
func (c *Certificate) Verify(p *Problem, tol float64) error {
	v, k := &verifier{Certificate: c, tol: tol}, p.k
	v.refuse(len(c.Lambda) != k || len(c.Sigma) != k || len(c.Slacks) != k, "%d weights, %d factors and %d slacks; want %d of each", len(c.Lambda), len(c.Sigma), len(c.Slacks), k)
	v.refuse(c.Status < Optimal || c.Status > RowsDropped || c.Status == FloorInfeasible || c.Status == IterationLimit, "it proves nothing: %s", c.Status.Message())
	if v.err == nil {
		v.err = checkSigma(c.Sigma)
	}
	if v.err != nil {
		return v.err
	}
	v.multiply(p.exact())
	v.active, v.out = v.mark(c.Active), v.mark(c.Dropped)
	v.weights()
	v.lengths()
	if c.Status != Stationary {
		v.slacks()
	}
	return v.err
}

// verifier has what a certificate's weights do to the gradients, in units that keep every product in the range of float64:
// rows are divided by powers of two near their lengths, and d by 2^exp. Sums are made in twice the
// precision of float64, since weights larger than d cancel in it.
type verifier struct {
	*Certificate
	tol         float64
	err         error // the first condition that fails
	exp         int
	row         []int     // the exponent of row i
	norm        []float64 // ‖J_i‖ in its unit
	along       []float64 // J_i·d
	length      float64   // ‖d‖
	size        float64   // Σλ_i‖J_i‖
	exact       bool      // ‖d‖² is good to more digits than a rounded Gram matrix allows
	active, out []bool    // Active and Dropped
}

func (v *verifier) refuse(wrong bool, format string, args ...any) {
	if wrong && v.err == nil {
		v.err = fmt.Errorf("emgd: certificate: "+format, args...)
	}
}

func (v *verifier) multiply(p *Problem) {
	k := p.k
	v.row, v.exact, v.norm, v.along = p.exp, p.lo != nil, make([]float64, k), make([]float64, k)
	top, some := 0, false
	for i, l := range v.Lambda {
		v.norm[i] = math.Sqrt(p.square(i))
		if e := math.Ilogb(l) + p.exp[i]; l > 0 && v.norm[i] > 0 && (!some || e > top) {
			top, some = e, true
		}
	}
	v.exp = top
	weight := make([]float64, k)
	for i, l := range v.Lambda {
		if v.norm[i] > 0 {
			weight[i] = math.Ldexp(l, v.row[i]-v.exp)
			v.size += weight[i] * v.norm[i]
		}
	}
	norm2 := twofold{}
	for i := range k {
		along := twofold{}
		for j, w := range weight {
			along = along.addProduct(p.c[i*k+j], w)
			if p.lo != nil {
				along = along.addProduct(p.lo[i*k+j], w)
			}
		}
		v.along[i] = along.hi
		norm2 = norm2.addProduct(along.hi, weight[i]).addProduct(along.lo, weight[i])
	}
	v.length = math.Sqrt(max(norm2.hi, 0))
}

// mark turns a list of rows, which names each at most once, into flags.
func (v *verifier) mark(list []int) []bool {
	in := make([]bool, len(v.norm))
	for _, i := range list {
		known := i >= 0 && i < len(in)
		v.refuse(!known || in[i], "the list of rows %v; want different ones from 0 to %d", list, len(in)-1)
		if known {
			in[i] = true
		}
	}
	return in
}

// weights checks them, the lists of rows, and what the status says about rows at the floor. Rows that were left out have no
// weight, unless d = 0 whatever the weights are, and are not the longest.
func (v *verifier) weights() {
	longest, length := 0, math.Inf(-1)
	for i, norm := range v.norm {
		if l := math.Log2(norm) + float64(v.row[i]); l > length {
			longest, length = i, l
		}
	}
	sum, bound := 0.0, false // whether a row is at the floor
	for i, l := range v.Lambda {
		active, out := v.active[i], v.out[i]
		v.refuse(!(l >= 0) || math.IsInf(l, 1) || l < v.Floor*(1-v.tol) && !out || active && l == 0, "λ_%d = %v; want at least the floor %v, and more than 0 if the row is active", i, l, v.Floor)
		v.refuse(out && (l != 0 && v.size > 0 || i == longest && v.norm[i] > 0), "row %d is left out, and has the weight %v or is the longest", i, l)
		v.refuse(v.Status != Stationary && (active && out || !active && !out && l > v.Floor*(1+v.tol)), "row %d has the weight %v at a floor of %v, and Active is %v", i, l, v.Floor, v.Active)
		bound = bound || !active && !out
		sum += l * v.Sigma[i]
	}
	v.refuse(!(math.Abs(sum-1) <= v.tol), "Σλ_iσ_i = %v; want 1", sum)
	v.refuse(v.Status == FloorBinding && !(v.Floor > 0 && bound) || v.Status == Optimal && v.Floor > 0 && bound, "the status is %v, and a weight at the floor of %v: %v", v.Status, v.Floor, bound)
}

// lengths checks whether d is 0, Norm2 and Level.
func (v *verifier) lengths() {
	limit := stationary(len(v.norm)-len(v.Dropped)) * v.size
	if v.Status == Stationary {
		still := v.length <= 2*limit || v.size == 0
		v.refuse(!still || v.Norm2 != 0 || slices.ContainsFunc(v.Slacks, func(x float64) bool { return x != 0 }), "‖d‖/Σλ_i‖J_i‖ = %v, ‖d‖² = %v and the slacks %v of a stationary point; want 0", v.length/v.size, v.Norm2, v.Slacks)
		return
	}
	v.refuse(!(v.length > limit/2), "‖d‖/Σλ_i‖J_i‖ = %v for the status %v", v.length/v.size, v.Status)
	square := v.length * v.length
	off := func(x float64) bool {
		return !(math.Abs(square-math.Ldexp(x, 2*(v.Exponent-v.exp))) <= v.tol*(square+v.size*v.length))
	}
	v.refuse(off(v.Norm2) || v.Floor == 0 && off(v.Level), "Norm2 %v or Level %v is not ‖d‖² = %v", v.Norm2, v.Level, math.Ldexp(square, 2*(v.exp-v.Exponent)))
}

// slacks checks the optimality conditions.
func (v *verifier) slacks() {
	loses, square, level := false, v.length*v.length, math.Ldexp(v.Level, 2*(v.Exponent-v.exp))
	if v.Floor == 0 && v.exact {
		level = square
	}
	for i, l := range v.Lambda {
		sigma, row, along := math.Ldexp(v.Sigma[i], v.exp-v.row[i]), v.row[i], v.along[i]
		if v.norm[i] == 0 { // the unit of σ_i·level, although products of so short a row need not be 0
			sigma, row, along = v.Sigma[i], v.exp, math.Ldexp(along, v.row[i]-v.exp)
		}
		scale, unit := v.norm[i]*v.length+sigma*max(square, math.Abs(level)), row+v.exp-2*v.Exponent
		slack := along - sigma*level
		rounding := math.Ldexp(v.tol*(scale+v.norm[i]*v.size), unit) + fp.Smallest
		v.refuse(!(math.Abs(math.Ldexp(slack, unit)-v.Slacks[i]) <= rounding), "the slack of row %d is %v, not %v", i, math.Ldexp(slack, unit), v.Slacks[i])
		if v.out[i] && (v.Status == RowsDropped || v.Status == IllConditioned) {
			loses = loses || slack < 0
			continue
		}
		// σ_i is infinite where the row is negligible beside the progress that its factor demands.
		v.refuse(!(slack >= -v.tol*scale) || math.IsInf(sigma, 1), "J_%d·d is less than σ_%d·level: the slack is %v of its terms", i, i, slack/scale)
		v.refuse(slack > v.tol*scale && l > v.Floor*(1+v.tol), "row %d is active (λ = %v) but its slack, %v of its terms, is not 0", i, l, slack/scale)
	}
	v.refuse(v.Status == RowsDropped && !loses, "the status is %v, and no row that was left out has a negative slack", v.Status)
}
