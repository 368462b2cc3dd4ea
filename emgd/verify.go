package emgd

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// Verify checks the certificate against the problem it was made from: it works out in 400-bit
// arithmetic what the weights do to the gradients, and nothing else of the solver counts. It
// returns nil if the certificate proves what its status says, and otherwise says which condition
// fails. The conditions may be broken by tol relative to scale_i; 1e-9 is a good choice. Weights,
// slacks, ‖d‖², level and the lists of rows are checked; Violation, Gap, Cancellation and
// Iterations, which tell how a solve went, are not. How short a row has to be to be left out is the
// solver's ZeroTol, which a certificate does not have: of a row in Dropped it is checked that some
// other row is longer.
func (c *Certificate) Verify(p *Problem, tol float64) error {
	if err := c.verify(p, tol); err != nil {
		return fmt.Errorf("emgd: certificate: %w", err)
	}
	return nil
}

func (c *Certificate) verify(p *Problem, tol float64) error {
	v := &verifier{Certificate: c, tol: tol}
	if err := v.form(p.k); err != nil {
		return err
	}
	v.multiply(p.inner())
	if err := v.weights(); err != nil {
		return err
	}
	if err := v.lengths(); err != nil || c.Status == Stationary {
		return err
	}
	return v.slacks()
}

// form checks what can be said of the certificate alone.
func (v *verifier) form(k int) (err error) {
	numbers := slices.Concat(v.Lambda, v.Slacks, []float64{v.Norm2, v.Level, v.Floor})
	switch {
	case len(v.Lambda) != k || len(v.Sigma) != k || len(v.Slacks) != k:
		return fmt.Errorf("%d weights, %d factors and %d slacks; want %d of each", len(v.Lambda), len(v.Sigma),
			len(v.Slacks), k)
	case v.Status < Optimal || v.Status > RowsDropped || v.Status == FloorInfeasible || v.Status == IterationLimit:
		return fmt.Errorf("it proves nothing: %s", v.Status.Message())
	}
	if err := checkSigma(v.Sigma); err != nil {
		return err
	}
	if !fp.Finite(numbers) || max(v.Exponent, -v.Exponent) > 1<<12 {
		return errors.New("weights, slacks or ‖d‖² are not finite")
	}
	if v.active, err = mark(v.Active, k); err != nil {
		return err
	}
	v.out, err = mark(v.Dropped, k)
	return err
}

// verifier has what a certificate's weights do to the gradients.
type verifier struct {
	*Certificate
	tol         float64
	active, out []bool       // Active and Dropped
	norm, along []*big.Float // ‖J_i‖ and J_i·d
	norm2       *big.Float   // ‖d‖²
	length      *big.Float   // ‖d‖
	size        *big.Float   // Σλ_i‖J_i‖
	claims      float64      // how far ‖d‖² and slacks may be from the certificate's
}

// precision is the precision of the check in bits, far beyond what cancels.
const precision = 400

func number(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

// inUnit is a number that the certificate gives in the unit of its Exponent.
func (v *verifier) inUnit(x float64) *big.Float {
	return new(big.Float).SetMantExp(number(x), 2*v.Exponent)
}

func times(x, y *big.Float) *big.Float { return new(big.Float).Mul(x, y) }
func plus(x, y *big.Float) *big.Float  { return new(big.Float).Add(x, y) }
func minus(x, y *big.Float) *big.Float { return new(big.Float).Sub(x, y) }

// over is x/y, and 0 for y = 0.
func over(x, y *big.Float) float64 {
	if y.Sign() == 0 {
		return 0
	}
	q, _ := new(big.Float).Quo(x, y).Float64()
	return q
}

// inner are the products of all gradients, without rounding if the problem has the gradients.
func (p *Problem) inner() [][]*big.Float {
	m := make([][]*big.Float, p.k)
	x, y, product := number(0), number(0), number(0)
	for i := range m {
		m[i] = make([]*big.Float, p.k)
		for j := range i + 1 {
			v := number(0)
			if p.rows == nil {
				v.SetMantExp(number(p.c[i*p.k+j]), p.exp[i]+p.exp[j])
			} else {
				for at, a := range p.rows[i] {
					v.Add(v, product.Mul(x.SetFloat64(a), y.SetFloat64(p.rows[j][at])))
				}
			}
			m[i][j], m[j][i] = v, v
		}
	}
	return m
}

func (v *verifier) multiply(gram [][]*big.Float) {
	v.norm2, v.size, v.length = number(0), number(0), number(0)
	for i, l := range v.Lambda {
		along, norm := number(0), new(big.Float).Sqrt(gram[i][i])
		for j, other := range v.Lambda {
			along.Add(along, times(gram[i][j], number(other)))
		}
		v.along, v.norm = append(v.along, along), append(v.norm, norm)
		v.norm2.Add(v.norm2, times(along, number(l)))
		v.size.Add(v.size, times(norm, number(l)))
	}
	if v.norm2.Sign() < 0 { // which a rounded Gram matrix allows
		v.norm2 = number(0)
	}
	v.length.Sqrt(v.norm2)
}

// mark turns a list of rows, which names each at most once, into flags.
func mark(list []int, k int) ([]bool, error) {
	in := make([]bool, k)
	for _, i := range list {
		if i < 0 || i >= k || in[i] {
			return nil, fmt.Errorf("the list of rows %v; want different ones from 0 to %d", list, k-1)
		}
		in[i] = true
	}
	return in, nil
}

// weights checks them, the lists of rows, and what the status says about rows at the floor. Rows
// that were left out have no weight, unless d = 0 whatever the weights are, and are not the
// longest.
func (v *verifier) weights() error {
	longest := slices.MaxFunc(v.norm, (*big.Float).Cmp)
	sum, bound := number(-1), false // whether a row is at the floor
	for i, l := range v.Lambda {
		active, out := v.active[i], v.out[i]
		if l < 0 || l < v.Floor && !out && v.size.Sign() > 0 || active && l == 0 {
			return fmt.Errorf("λ_%d = %v; want at least the floor %v, and more than 0 if the row is active", i, l, v.Floor)
		}
		if out && (l != 0 && v.size.Sign() > 0 || v.norm[i] == longest && longest.Sign() > 0) {
			return fmt.Errorf("row %d is left out, and has the weight %v or is the longest", i, l)
		}
		if v.Status != Stationary && (active && out || !active && !out && l > v.Floor) {
			return fmt.Errorf("row %d has the weight %v at a floor of %v, and Active is %v", i, l, v.Floor, v.Active)
		}
		bound = bound || !active && !out
		sum.Add(sum, times(number(l), number(v.Sigma[i])))
	}
	if math.Abs(over(sum, number(1))) > exact {
		return fmt.Errorf("the sum Σλ_iσ_i differs from 1 by %.3g", sum)
	}
	if v.Status == FloorBinding && !(v.Floor > 0 && bound) || v.Status == Optimal && v.Floor > 0 && bound {
		return fmt.Errorf("the status is %v, and a weight at the floor of %v: %v", v.Status, v.Floor, bound)
	}
	return nil
}

// lengths checks whether d is 0 as the status says, and what the certificate says of its length.
func (v *verifier) lengths() error {
	ratio, limit := over(v.length, v.size), stationary(len(v.norm)-len(v.Dropped))
	if v.Status == Stationary {
		still := ratio <= 1.001*limit && v.Norm2 == 0 && !slices.ContainsFunc(v.Slacks, func(x float64) bool {
			return x != 0
		})
		if !still {
			return fmt.Errorf("‖d‖/Σλ_i‖J_i‖ = %v, ‖d‖² = %v and the slacks %v of a stationary point; want 0",
				ratio, v.Norm2, v.Slacks)
		}
		return nil
	}
	if !(ratio > limit/2) {
		return fmt.Errorf("‖d‖/Σλ_i‖J_i‖ = %v for the status %v", ratio, v.Status)
	}
	v.claims = exact + 1e-15/ratio/ratio // the rounding of a Gram matrix is relative to (Σλ_i‖J_i‖)²
	off := func(x float64) bool { return math.Abs(over(minus(v.inUnit(x), v.norm2), v.norm2)) > v.claims }
	if off(v.Norm2) || v.Floor == 0 && off(v.Level) {
		return fmt.Errorf("Norm2 %v or Level %v is not ‖d‖² = %.17g over 4^%d", v.Norm2, v.Level, v.norm2, v.Exponent)
	}
	return nil
}

// slacks checks the optimality conditions.
func (v *verifier) slacks() error {
	loses, level := false, v.norm2
	if v.Floor > 0 {
		level = v.inUnit(v.Level)
	}
	most := slices.MaxFunc([]*big.Float{new(big.Float).Abs(level), v.norm2}, (*big.Float).Cmp)
	for i := range v.Lambda {
		sigma := number(v.Sigma[i])
		slack, scale := minus(v.along[i], times(sigma, level)), plus(times(v.norm[i], v.length), times(sigma, most))
		off, part := minus(v.inUnit(v.Slacks[i]), slack), over(slack, scale)
		allowed := plus(times(number(v.claims), scale), v.inUnit(fp.Smallest))
		if off.Abs(off).Cmp(allowed) > 0 {
			return fmt.Errorf("the slack of row %d is %.17g over 4^%d, not %v", i, slack, v.Exponent, v.Slacks[i])
		}
		if v.out[i] && (v.Status == RowsDropped || v.Status == IllConditioned) {
			loses = loses || slack.Sign() < 0
			continue
		}
		if part < -v.tol {
			return fmt.Errorf("the product J_%d·d is less than σ_%d·level: the slack is %v of its terms", i, i, part)
		}
		if part > v.tol && v.active[i] {
			return fmt.Errorf("row %d is active (λ = %v) but its slack, %v of its terms, is not 0", i, v.Lambda[i], part)
		}
	}
	if v.Status == RowsDropped && !loses {
		return fmt.Errorf("the status is %v, and no row that was left out has a negative slack", v.Status)
	}
	return nil
}
