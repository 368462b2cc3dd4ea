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
	k := p.k
	switch {
	case len(c.Lambda) != k || len(c.Sigma) != k || len(c.Slacks) != k:
		return fmt.Errorf("emgd: certificate with %d weights, %d factors and %d slacks; want %d of each", len(c.Lambda), len(c.Sigma), len(c.Slacks), k)
	case c.Status < Optimal || c.Status > RowsDropped || c.Status == FloorInfeasible || c.Status == IterationLimit:
		return fmt.Errorf("emgd: the certificate proves nothing: %s", c.Status.Message())
	}
	if err := checkSigma(c.Sigma); err != nil {
		return err
	}
	v := newVerifier(c, p.exact(), tol)
	checks := []func() error{v.lists, v.weights, v.dropped, v.stationary}
	if c.Status != Stationary {
		checks = append(checks, v.floor, v.lengths, v.slacks)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// verifier has what a certificate's weights do to the gradients, in units that keep every product in the range of float64:
// rows are divided by powers of two near their lengths, and d by 2^exp. Sums are made in twice the
// precision of float64, since weights larger than d cancel in it.
type verifier struct {
	*Certificate
	tol         float64
	exp         int
	row         []int     // the exponent of row i
	norm        []float64 // ‖J_i‖ in its unit
	along       []float64 // J_i·d
	length      float64   // ‖d‖
	size        float64   // Σλ_i‖J_i‖
	exact       bool      // ‖d‖² is good to more digits than a rounded Gram matrix allows
	active, out []bool    // Active and Dropped
}

func newVerifier(c *Certificate, p *Problem, tol float64) *verifier {
	k := p.k
	v := &verifier{Certificate: c, tol: tol, row: p.exp, exact: p.lo != nil, norm: make([]float64, k), along: make([]float64, k)}
	top, some := 0, false
	for i, l := range c.Lambda {
		v.norm[i] = math.Sqrt(p.square(i))
		if e := math.Ilogb(l) + p.exp[i]; l > 0 && v.norm[i] > 0 && (!some || e > top) {
			top, some = e, true
		}
	}
	v.exp = top
	weight := make([]float64, k)
	for i, l := range c.Lambda {
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
	return v
}

// lists checks that Active and Dropped name each row at most once.
func (v *verifier) lists() error {
	mark := func(list []int) ([]bool, error) {
		in := make([]bool, len(v.norm))
		for _, i := range list {
			if i < 0 || i >= len(in) || in[i] {
				return nil, fmt.Errorf("emgd: the list of rows %v; want different ones from 0 to %d", list, len(in)-1)
			}
			in[i] = true
		}
		return in, nil
	}
	var err error
	if v.active, err = mark(v.Active); err != nil {
		return err
	}
	v.out, err = mark(v.Dropped)
	return err
}

func (v *verifier) weights() error {
	sum := 0.0
	for i, l := range v.Lambda {
		if !(l >= 0) || math.IsInf(l, 1) || l < v.Floor*(1-v.tol) && !v.out[i] || v.active[i] && l == 0 {
			return fmt.Errorf("emgd: weight λ_%d = %v; want at least the floor %v, and more than 0 if the row is active", i, l, v.Floor)
		}
		sum += l * v.Sigma[i]
	}
	if !(math.Abs(sum-1) <= v.tol) {
		return fmt.Errorf("emgd: Σλ_iσ_i = %v; want 1", sum)
	}
	return nil
}

// dropped checks that rows in Dropped have no weight, unless d = 0 whatever the weights are, and are not the longest.
func (v *verifier) dropped() error {
	longest, length := 0, math.Inf(-1)
	for i, norm := range v.norm {
		if l := math.Log2(norm) + float64(v.row[i]); l > length {
			longest, length = i, l
		}
	}
	for _, i := range v.Dropped {
		if v.Lambda[i] != 0 && v.size > 0 || i == longest && v.norm[i] > 0 {
			return fmt.Errorf("emgd: row %d is left out, and has the weight %v or is the longest", i, v.Lambda[i])
		}
	}
	return nil
}

func (v *verifier) stationary() error {
	limit, still := stationary(len(v.norm)-len(v.Dropped))*v.size, v.Status == Stationary
	switch {
	case still && !(v.length <= 2*limit) && v.size > 0, !still && !(v.length > limit/2):
		return fmt.Errorf("emgd: ‖d‖/Σλ_i‖J_i‖ = %v for the status %v", v.length/v.size, v.Status)
	case still && (v.Norm2 != 0 || slices.ContainsFunc(v.Slacks, func(x float64) bool { return x != 0 })):
		return fmt.Errorf("emgd: ‖d‖² = %v and the slacks %v of a stationary point; want 0", v.Norm2, v.Slacks)
	}
	return nil
}

// floor checks what the status and Active say about rows at the floor.
func (v *verifier) floor() error {
	bound := false // a row is at the floor
	for i, l := range v.Lambda {
		if v.active[i] && (v.out[i] || l < v.Floor*(1-v.tol)) || !v.active[i] && !v.out[i] && l > v.Floor*(1+v.tol) {
			return fmt.Errorf("emgd: row %d has the weight %v at a floor of %v, and Active is %v", i, l, v.Floor, v.Active)
		}
		bound = bound || !v.active[i] && !v.out[i]
	}
	if v.Status == FloorBinding && !(v.Floor > 0 && bound) || v.Status == Optimal && v.Floor > 0 && bound {
		return fmt.Errorf("emgd: the status is %v, and a weight at the floor of %v: %v", v.Status, v.Floor, bound)
	}
	return nil
}

// level is the certificate's Level in the unit of v.
func (v *verifier) level() float64 {
	if v.Floor == 0 && v.exact {
		return v.length * v.length
	}
	return math.Ldexp(v.Level, 2*(v.Exponent-v.exp))
}

func (v *verifier) lengths() error {
	square := v.length * v.length
	off := func(x float64) bool {
		return !(math.Abs(square-math.Ldexp(x, 2*(v.Exponent-v.exp))) <= v.tol*(square+v.size*v.length))
	}
	if off(v.Norm2) || v.Floor == 0 && off(v.Level) {
		return fmt.Errorf("emgd: Norm2 %v or Level %v is not ‖d‖² = %v", v.Norm2, v.Level, math.Ldexp(square, 2*(v.exp-v.Exponent)))
	}
	return nil
}

func (v *verifier) slacks() error {
	loses, square, level := false, v.length*v.length, v.level()
	for i, l := range v.Lambda {
		sigma, row, along := math.Ldexp(v.Sigma[i], v.exp-v.row[i]), v.row[i], v.along[i]
		if v.norm[i] == 0 { // the unit of σ_i·level, although products of so short a row need not be 0
			sigma, row, along = v.Sigma[i], v.exp, math.Ldexp(along, v.row[i]-v.exp)
		}
		scale, unit := v.norm[i]*v.length+sigma*max(square, math.Abs(level)), row+v.exp-2*v.Exponent
		slack := along - sigma*level
		rounding := math.Ldexp(v.tol*(scale+v.norm[i]*v.size), unit) + fp.Smallest
		if !(math.Abs(math.Ldexp(slack, unit)-v.Slacks[i]) <= rounding) {
			return fmt.Errorf("emgd: the slack of row %d is %v; the certificate says %v", i, math.Ldexp(slack, unit), v.Slacks[i])
		}
		if v.out[i] && (v.Status == RowsDropped || v.Status == IllConditioned) {
			loses = loses || slack < 0
			continue
		}
		if !(slack >= -v.tol*scale) || math.IsInf(sigma, 1) { // the row is nothing next to what σ_i asks for
			return fmt.Errorf("emgd: J_%d·d is less than σ_%d·level: the slack is %v of its terms", i, i, slack/scale)
		}
		if slack > v.tol*scale && l > v.Floor*(1+v.tol) {
			return fmt.Errorf("emgd: row %d is active (λ = %v) but its slack, %v of its terms, is not 0", i, l, slack/scale)
		}
	}
	if v.Status == RowsDropped && !loses {
		return fmt.Errorf("emgd: the status is %v, and no row that was left out has a negative slack", v.Status)
	}
	return nil
}
