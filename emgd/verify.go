package emgd

import (
	"fmt"
	"math"
	"slices"
)

// Verify checks the certificate against the Gram matrix it was made from, independently of how it
// was computed, with a tolerance tol relative to scale_i (1e-9 is a good choice). It returns nil if
// the certificate proves what its status says, and otherwise says which condition fails.
func (c *Certificate) Verify(gram []float64, tol float64) error {
	k := len(c.Lambda)
	if err := checkGram(gram, k); err != nil {
		return err
	}
	return c.verify(&scaledGram{k: k, m: gram}, tol)
}

// VerifyRows is Verify for the gradients themselves.
func (c *Certificate) VerifyRows(rows [][]float64, tol float64) error {
	g, err := scaledRows(rows)
	if err != nil {
		return err
	}
	if g.k != len(c.Lambda) {
		return fmt.Errorf("emgd: certificate with %d weights for %d gradients", len(c.Lambda), g.k)
	}
	return c.verify(g, tol)
}

func (c *Certificate) verify(gram *scaledGram, tol float64) error {
	k := gram.k
	if len(c.Sigma) != k || len(c.Slacks) != k {
		return fmt.Errorf("emgd: certificate with %d weights, %d factors and %d slacks", k, len(c.Sigma), len(c.Slacks))
	}
	if err := checkSigma(c.Sigma, k); err != nil {
		return err
	}
	if c.Status == FloorInfeasible || c.Status == IterationLimit {
		return fmt.Errorf("emgd: the certificate proves nothing: %s", c.Status.Message())
	}
	sum := 0.0
	for i, l := range c.Lambda {
		if !(l >= 0) || math.IsInf(l, 1) || l < c.Floor*(1-tol) && !slices.Contains(c.Dropped, i) {
			return fmt.Errorf("emgd: weight λ_%d = %v is below the floor %v", i, l, c.Floor)
		}
		sum += l * c.Sigma[i]
	}
	if !(math.Abs(sum-1) <= tol) {
		return fmt.Errorf("emgd: Σλ_iσ_i = %v; want 1", sum)
	}
	return newGains(gram, c.Lambda).verify(c, tol)
}

// gains are what weights do to the gradients, in units that keep every product in the range of float64:
// rows are divided by powers of two near their lengths, and d by 2^exp. Sums are made in twice the
// precision of float64, since weights larger than d cancel in it.
type gains struct {
	exp    int
	row    []int     // the exponent of row i
	norm   []float64 // ‖J_i‖ in its unit
	along  []float64 // J_i·d
	length float64   // ‖d‖
	size   float64   // Σλ_i‖J_i‖
	exact  bool      // ‖d‖² is good to more digits than a rounded Gram matrix allows
}

func newGains(g *scaledGram, lambda []float64) *gains {
	k := g.k
	v := &gains{exp: math.MinInt, exact: g.lo != nil, row: make([]int, k), norm: make([]float64, k), along: make([]float64, k)}
	for i, l := range lambda {
		v.norm[i], v.row[i] = g.length(i)
		if l > 0 && v.norm[i] > 0 {
			v.exp = max(v.exp, math.Ilogb(l)+v.row[i])
		}
	}
	if v.exp == math.MinInt { // d = 0
		v.exp = 0
	}
	weight := make([]float64, k)
	for i, l := range lambda {
		if v.norm[i] > 0 {
			weight[i] = math.Ldexp(l, v.row[i]-v.exp)
			v.size += weight[i] * v.norm[i]
		}
	}
	norm2 := twofold{}
	for i := range k {
		along := twofold{}
		for j, w := range weight {
			scaled := func(m float64) float64 {
				return math.Ldexp(math.Ldexp(m, g.exponent(i)-v.row[i]), g.exponent(j)-v.row[j])
			}
			along = along.addProduct(scaled(g.m[i*k+j]), w)
			if g.lo != nil {
				along = along.addProduct(scaled(g.lo[i*k+j]), w)
			}
		}
		v.along[i] = along.hi
		norm2 = norm2.addProduct(along.hi, weight[i]).addProduct(along.lo, weight[i])
	}
	v.length = math.Sqrt(max(norm2.hi, 0))
	return v
}

func (v *gains) verify(c *Certificate, tol float64) error {
	if c.Status == Stationary {
		if !(v.length <= 2*stationary(len(v.row))*v.size) {
			return fmt.Errorf("emgd: ‖d‖/Σλ_i‖J_i‖ = %v is not stationary", v.length/v.size)
		}
		return nil
	}
	norm2, level := v.length*v.length, math.Ldexp(c.Level, 2*(c.Exponent-v.exp))
	if c.Floor == 0 && !(math.Abs(norm2-level) <= tol*(norm2+v.size*v.length)) {
		return fmt.Errorf("emgd: level %v is not ‖d‖² = %v", level, norm2)
	}
	if c.Floor == 0 && v.exact {
		level = norm2
	}
	for i, l := range c.Lambda {
		dropped := slices.Contains(c.Dropped, i)
		if dropped && c.Status != Optimal {
			continue
		}
		sigma := math.Ldexp(c.Sigma[i], v.exp-v.row[i])
		if v.norm[i] == 0 {
			sigma = c.Sigma[i]
		}
		scale := v.norm[i]*v.length + sigma*max(norm2, math.Abs(level))
		slack := v.along[i] - sigma*level
		if !(slack >= -tol*scale) || math.IsInf(sigma, 1) { // the row is nothing next to what σ_i asks for
			return fmt.Errorf("emgd: J_%d·d is less than σ_%d·level: the slack is %v of its terms", i, i, slack/scale)
		}
		if slack > tol*scale && l > c.Floor*(1+tol) {
			return fmt.Errorf("emgd: row %d is active (λ = %v) but its slack, %v of its terms, is not 0", i, l, slack/scale)
		}
	}
	return nil
}
