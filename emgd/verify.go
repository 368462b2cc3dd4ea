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
	p = p.exact()
	k := p.k
	if len(c.Lambda) != k {
		return fmt.Errorf("emgd: certificate with %d weights for %d gradients", len(c.Lambda), k)
	}
	if len(c.Sigma) != k || len(c.Slacks) != k {
		return fmt.Errorf("emgd: certificate with %d weights, %d factors and %d slacks", k, len(c.Sigma), len(c.Slacks))
	}
	if err := checkSigma(c.Sigma); err != nil {
		return err
	}
	if c.Status < 0 || int(c.Status) >= len(statusNames) {
		return fmt.Errorf("emgd: unknown status %d", int(c.Status))
	}
	if err := c.checkLists(); err != nil {
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
	return newGains(p, c.Lambda).verify(c, tol)
}

// checkLists checks Active and Dropped: each row is there at most once, and what is active has a weight.
func (c *Certificate) checkLists() error {
	for name, list := range map[string][]int{"Active": c.Active, "Dropped": c.Dropped} {
		for at, i := range list {
			if i < 0 || i >= len(c.Lambda) || slices.Contains(list[:at], i) {
				return fmt.Errorf("emgd: %s = %v; want different rows from 0 to %d", name, list, len(c.Lambda)-1)
			}
		}
	}
	for _, i := range c.Active {
		if !(c.Lambda[i] > 0) {
			return fmt.Errorf("emgd: row %d is listed as active and has the weight %v", i, c.Lambda[i])
		}
	}
	return nil
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

func newGains(p *Problem, lambda []float64) *gains {
	k := p.k
	v := &gains{exp: math.MinInt, exact: p.lo != nil, row: p.exp, norm: make([]float64, k), along: make([]float64, k)}
	for i, l := range lambda {
		v.norm[i] = math.Sqrt(p.square(i))
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

func (v *gains) verify(c *Certificate, tol float64) error {
	if err := v.verifyDropped(c); err != nil {
		return err
	}
	limit := stationary(len(v.row)-len(c.Dropped)) * v.size
	if c.Status == Stationary {
		switch {
		case !(v.length <= 2*limit) && v.size > 0:
			return fmt.Errorf("emgd: ‖d‖/Σλ_i‖J_i‖ = %v is not stationary", v.length/v.size)
		case c.Norm2 != 0 || slices.ContainsFunc(c.Slacks, func(x float64) bool { return x != 0 }):
			return fmt.Errorf("emgd: ‖d‖² = %v and the slacks %v of a stationary point; want 0", c.Norm2, c.Slacks)
		}
		return nil
	}
	if !(v.length > limit/2) {
		return fmt.Errorf("emgd: ‖d‖/Σλ_i‖J_i‖ = %v: the point is stationary, and the status %v", v.length/v.size, c.Status)
	}
	if err := v.verifyFloor(c, tol); err != nil {
		return err
	}
	return v.verifySlacks(c, tol)
}

// verifyDropped checks that rows in Dropped have no weight, unless d = 0 whatever the weights are, and are not the longest.
func (v *gains) verifyDropped(c *Certificate) error {
	longest, length := 0, math.Inf(-1)
	for i, norm := range v.norm {
		if l := math.Log2(norm) + float64(v.row[i]); l > length {
			longest, length = i, l
		}
	}
	for _, i := range c.Dropped {
		if c.Lambda[i] != 0 && v.size > 0 {
			return fmt.Errorf("emgd: row %d is left out and has the weight %v", i, c.Lambda[i])
		}
		if i == longest && v.norm[i] > 0 {
			return fmt.Errorf("emgd: row %d is left out although no other is longer", i)
		}
	}
	return nil
}

// verifyFloor checks what the status and Active say about rows at the floor.
func (v *gains) verifyFloor(c *Certificate, tol float64) error {
	bound := -1 // a row at the floor
	for i, l := range c.Lambda {
		active, out := slices.Contains(c.Active, i), slices.Contains(c.Dropped, i)
		switch {
		case active && (out || l < c.Floor*(1-tol)):
			return fmt.Errorf("emgd: row %d is listed as active, and is left out or at the floor", i)
		case !active && !out && l > c.Floor*(1+tol):
			return fmt.Errorf("emgd: row %d is above the floor (λ = %v) and not listed as active", i, l)
		case !active && !out:
			bound = i
		}
	}
	switch {
	case c.Status == FloorBinding && (c.Floor == 0 || bound < 0):
		return fmt.Errorf("emgd: the status is %v, and no weight is at a floor", c.Status)
	case c.Status == Optimal && c.Floor > 0 && bound >= 0:
		return fmt.Errorf("emgd: the status is %v, and the weight of row %d is at the floor", c.Status, bound)
	}
	return nil
}

// verifySlacks checks ‖d‖², the level, and the slack of every row.
func (v *gains) verifySlacks(c *Certificate, tol float64) error {
	unit := 2 * (c.Exponent - v.exp)
	norm2, level := v.length*v.length, math.Ldexp(c.Level, unit)
	if !(math.Abs(norm2-math.Ldexp(c.Norm2, unit)) <= tol*(norm2+v.size*v.length)) {
		return fmt.Errorf("emgd: Norm2 %v is not ‖d‖² = %v", math.Ldexp(c.Norm2, unit), norm2)
	}
	if c.Floor == 0 && !(math.Abs(norm2-level) <= tol*(norm2+v.size*v.length)) {
		return fmt.Errorf("emgd: level %v is not ‖d‖² = %v", level, norm2)
	}
	if c.Floor == 0 && v.exact {
		level = norm2
	}
	loses := false
	for i, l := range c.Lambda {
		sigma, row, along := math.Ldexp(c.Sigma[i], v.exp-v.row[i]), v.row[i], v.along[i]
		if v.norm[i] == 0 { // the unit of σ_i·level, although products of so short a row need not be 0
			sigma, row, along = c.Sigma[i], v.exp, math.Ldexp(along, v.row[i]-v.exp)
		}
		scale := v.norm[i]*v.length + sigma*max(norm2, math.Abs(level))
		slack := along - sigma*level
		rounding := math.Ldexp(tol*(scale+v.norm[i]*v.size), row+v.exp-2*c.Exponent) + fp.Smallest
		if stated := math.Ldexp(slack, row+v.exp-2*c.Exponent); !(math.Abs(stated-c.Slacks[i]) <= rounding) {
			return fmt.Errorf("emgd: the slack of row %d is %v; the certificate says %v", i, stated, c.Slacks[i])
		}
		if slices.Contains(c.Dropped, i) && (c.Status == RowsDropped || c.Status == IllConditioned) {
			loses = loses || slack < 0
			continue
		}
		if !(slack >= -tol*scale) || math.IsInf(sigma, 1) { // the row is nothing next to what σ_i asks for
			return fmt.Errorf("emgd: J_%d·d is less than σ_%d·level: the slack is %v of its terms", i, i, slack/scale)
		}
		if slack > tol*scale && l > c.Floor*(1+tol) {
			return fmt.Errorf("emgd: row %d is active (λ = %v) but its slack, %v of its terms, is not 0", i, l, slack/scale)
		}
	}
	if c.Status == RowsDropped && !loses {
		return fmt.Errorf("emgd: the status is %v, and no row that was left out has a negative slack", c.Status)
	}
	return nil
}
