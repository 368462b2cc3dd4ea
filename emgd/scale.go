package emgd

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fp"
)

// scale writes the problem of the chosen rows into the active set: with p_i a power of two near
// ‖J_i‖ and m a power of two near max_i σ_i/p_i,
//
//	C_ij = M_ij/(p_i p_j),  s_i = σ_i/(p_i m),  ν_i = (λ_i − floor) p_i m,
//
// the problem is min ½νᵀCν + qᵀν subject to sᵀν = 1 − floor·Σσ and ν ≥ 0, where q_i is the floor's
// share J_i·(floor·ΣJ_j)·m/p_i. All divisions are exact. The powers are kept as exponents, since their
// products and quotients may leave float64 where the rows are in it. A row of norm 0 gets the p_i that
// makes s_i ≈ 1.
func (s *Solver) scale() {
	w, p, n := &s.set, s.problem, len(s.rows)
	w.resize(n)
	s.unit()
	if p.lo != nil {
		w.lo = fp.Grow(w.lo, n*n)
	}
	for a, i := range s.rows {
		w.s[a] = math.Ldexp(s.cert.Sigma[i], -s.exp[a]-w.unit)
		if w.s[a] < negligible {
			w.s[a] = 0
		}
		for b, j := range s.rows {
			w.c[a*n+b] = p.c[i*p.k+j]
			if p.lo != nil {
				w.lo[a*n+b] = p.lo[i*p.k+j]
			}
		}
		w.norm[a] = math.Sqrt(w.c[a*n+a])
	}
	s.shift()
}

// unit finds the exponents of the p_i and of m.
func (s *Solver) unit() {
	top, topOfZeros := math.MinInt, math.MinInt
	for a, i := range s.rows {
		s.exp[a] = s.problem.exp[i]
		switch sigma := s.cert.Sigma[i]; {
		case sigma == 0:
		case s.problem.square(i) > 0:
			top = max(top, math.Ilogb(sigma)-s.exp[a])
		default:
			topOfZeros = max(topOfZeros, math.Ilogb(sigma))
		}
	}
	alone := top == math.MinInt // only rows of norm 0 have a factor
	if alone {
		top = topOfZeros
	}
	if topOfZeros > math.MinInt && s.Floor > 0 {
		if f := s.floorExponent(top); f < -ordinary || alone && f > ordinary {
			top -= f
		}
	}
	s.set.unit = top
	for a, i := range s.rows {
		if s.problem.square(i) == 0 {
			s.exp[a] = math.Ilogb(s.cert.Sigma[i]) - top
		}
	}
}

// floorExponent is that of the floor's part of d in the scale with m = 2^top. Where a row of norm 0 takes
// up all the weight above the floor, d is nothing else.
func (s *Solver) floorExponent(top int) int {
	f := math.MinInt
	for a, i := range s.rows {
		if s.problem.square(i) > 0 {
			f = max(f, math.Ilogb(s.Floor)+s.exp[a]+top)
		}
	}
	if f == math.MinInt {
		return 0
	}
	return f
}

// negligible is the s_i, next to a largest one of 1, that a row may have without asking for any part
// of ‖d‖² that float64 could tell from 0. The row then only bounds d: J_i·d ≥ 0.
const negligible = 0x1p-200

// shift writes the part of the scaled problem that comes from the floor.
func (s *Solver) shift() {
	w := &s.set
	w.tau, w.q0, w.size0, w.shifted = 1, 0, 0, s.Floor > 0
	if !w.shifted {
		return
	}
	n := len(s.rows)
	sum, unit := s.factors()
	w.tau = max(0, 1-s.Floor*sum*unit)
	for a := range n {
		w.least[a] = math.Ldexp(s.Floor, s.exp[a]+w.unit)
		w.size0 += w.least[a] * w.norm[a]
	}
	for a := range n {
		q := 0.0
		for b, v := range w.least {
			q += w.c[a*n+b] * v
		}
		w.q[a] = q
		w.q0 += q * w.least[a]
	}
	w.q0 = max(0, w.q0)
}

// finish takes the solution of the scaled problem back to λ and writes the certificate. The status is
// that of a solution without fault.
func (s *Solver) finish(status Status) (*Certificate, error) {
	w, c := &s.set, &s.cert
	c.Status, c.Iterations = status, w.iterations
	floor := s.Floor
	if status == FloorInfeasible {
		floor = 0 // the weights are all that there is in ν
	} else if err := s.complete(); err != nil {
		return nil, err
	}
	for a, i := range s.rows {
		c.Lambda[i] = floor + math.Ldexp(w.nu[a], -s.exp[a]-w.unit)
		if w.nu[a] > 0 && c.Lambda[i] > 0 && status != FloorInfeasible {
			c.Active = append(c.Active, i)
		}
	}
	if err := s.representable(); err != nil {
		return nil, err
	}
	if status == Optimal && w.vanishes() {
		c.Status = Stationary
		if size := w.size(); size > 0 { // all weight may be on rows of zeros
			c.Cancellation = min(1, math.Sqrt(max(0, w.norm2))/size)
		}
		return c, s.finite()
	}
	c.Exponent = s.exponent()
	worse := s.measure()
	if status == Optimal {
		c.Status = s.judge(worse)
	}
	return c, s.finite()
}

// complete counts in what negligible factors add to Σλσ after all, where d = 0 has let the weights of
// their rows grow as large.
func (s *Solver) complete() error {
	w, more := &s.set, 0.0
	for a, i := range s.rows {
		if w.s[a] == 0 && w.nu[a] > 0 {
			more += math.Ldexp(s.cert.Sigma[i], -s.exp[a]-w.unit) * w.nu[a]
		}
	}
	switch {
	case more <= 1e-3*exact:
		return nil
	case w.shifted:
		return fmt.Errorf("emgd: the gradients are too far apart in size for a floor on the weights; rescale them")
	}
	part := 1 / (1 + more)
	for a := range w.nu {
		w.nu[a] *= part
		w.g[a] *= part
	}
	w.norm2 *= part * part
	w.kappa *= part * part
	return nil
}

// judge is the status that the slacks allow. worse says that a dropped row has a negative one.
func (s *Solver) judge(worse bool) Status {
	c := &s.cert
	switch {
	case !s.set.converged && c.Violation > rough:
		return IterationLimit
	case c.Violation > exact:
		return IllConditioned
	case worse:
		return RowsDropped
	case s.Floor > 0 && len(c.Active) < len(s.rows):
		return FloorBinding
	}
	return Optimal
}

const (
	// exact is the largest violation of an optimal status.
	exact = 1e-9
	// rough is the violation beyond which the iteration limit is to blame, and not rounding.
	rough = 1e-6
)

// representable refuses weights that float64 cannot hold: too large ones, and those that would be
// rounded to 0 or nearly so although d needs them.
func (s *Solver) representable() error {
	w, c := &s.set, &s.cert
	lost, worst := 0.0, -1
	for a, i := range s.rows {
		switch l := c.Lambda[i]; {
		case l-l != 0:
			return fmt.Errorf("emgd: the weight λ_%d (counted from 0) leaves the range of float64; rescale the factors σ or the gradients", i)
		case l < fp.Smallest && w.nu[a] > 0:
			if part := math.Abs(math.Ldexp(l, s.exp[a]+w.unit)-w.nu[a]) * w.norm[a]; part > 0 {
				lost, worst = lost+part, i
			}
		}
	}
	limit := 1e-3 * exact * math.Sqrt(w.norm2)
	if w.vanishes() {
		limit = exact * w.size()
	}
	if lost > limit {
		return fmt.Errorf("emgd: the weight λ_%d (counted from 0) is too small for float64, and d needs it: the gradients or the factors σ are too far apart in size; rescale them", worst)
	}
	return nil
}

// exponent picks the unit of the certificate: 1, or a power of two near ‖d‖ where slacks and ‖d‖² would
// leave the range of float64 otherwise.
func (s *Solver) exponent() int {
	const low, high = -960, 1000
	w := &s.set
	if w.norm2 == 0 {
		return 0
	}
	length := fp.HalfExponent(w.norm2) - w.unit
	most := 2 * length
	for _, e := range s.exp[:len(s.rows)] {
		most = max(most, e+length+1) // ‖J_i‖‖d‖
	}
	if w.kappa != 0 {
		for _, sigma := range s.cert.Sigma {
			if sigma > 0 {
				most = max(most, math.Ilogb(sigma)+math.Ilogb(w.kappa)-2*w.unit+1)
			}
		}
	}
	switch {
	case 2*length > low && most < high:
		return 0
	case most-2*length > high:
		return (most - high + 1) / 2
	}
	return length
}

// terms are the two terms of a slack in the scale of its row, where both are in the range of float64
// whatever the gradients are: J_i·d, and σ_i·κ, with the size of each.
type terms struct {
	along, length float64 // J_i·d, ‖J_i‖‖d‖
	asked, share  float64 // σ_i·κ, σ_i·max(‖d‖², |κ|)
	exp           int     // of the unit: J_i·d = along·2^exp
}

func (t *terms) slack() float64 { return t.along - t.asked }

// scale is scale_i of the certificate.
func (t *terms) scale() float64 { return t.length + t.share }

// terms are those of row i, whose J_i·d is along·2^e and whose length norm·2^e, in the unit 2^unit.
func (s *Solver) terms(i int, along, norm float64, e, unit int) terms {
	w := &s.set
	sigma := math.Ldexp(s.cert.Sigma[i], -unit-w.unit)
	return terms{
		along: math.Ldexp(along, e-unit), length: math.Ldexp(norm*math.Sqrt(w.norm2), e-unit),
		asked: sigma * w.kappa, share: sigma * max(w.norm2, math.Abs(w.kappa)),
		exp: unit - w.unit,
	}
}

// left are the terms of row i, which takes no part.
func (s *Solver) left(i int) terms {
	p, sigma := s.problem, s.cert.Sigma[i]
	norm, e := math.Sqrt(p.square(i)), p.exp[i]
	unit := e
	if sigma > 0 { // the row may be much shorter than σ_i asks for
		if asked := math.Ilogb(sigma) - s.set.unit; norm == 0 || asked > e {
			unit = asked
		}
	}
	along := 0.0
	for a, j := range s.rows {
		along += p.c[i*p.k+j] * s.weight(a)
	}
	return s.terms(i, along, norm, e, unit)
}

// weight is λ in the scale of ν.
func (s *Solver) weight(a int) float64 {
	if s.set.shifted {
		return s.set.nu[a] + s.set.least[a]
	}
	return s.set.nu[a]
}

// measure writes ‖d‖², Level and the slacks, and judges them. It reports whether a dropped row has a
// negative slack.
func (s *Solver) measure() (worse bool) {
	w, c := &s.set, &s.cert
	unit := -2*w.unit - 2*c.Exponent
	c.Norm2, c.Level = math.Ldexp(w.norm2, unit), math.Ldexp(w.kappa, unit)
	size, gap, total := 0.0, 0.0, 0.0
	for a, i := range s.rows {
		t := s.terms(i, w.g[a], w.norm[a], s.exp[a], s.exp[a])
		c.Slacks[i] = math.Ldexp(t.slack(), t.exp-2*c.Exponent)
		size += s.weight(a) * w.norm[a]
		if t.scale() == 0 {
			continue
		}
		breach := -t.slack()
		if free := c.Lambda[i] - s.Floor; free > 0 && slices.Contains(c.Active, i) {
			breach = math.Abs(breach)
			free = math.Ldexp(free, s.exp[a]+w.unit)
			gap += free * breach
			total += free * t.scale()
		}
		c.Violation = max(c.Violation, breach/t.scale())
	}
	for _, i := range c.Dropped {
		t := s.left(i)
		c.Slacks[i] = math.Ldexp(t.slack(), t.exp-2*c.Exponent)
		worse = worse || t.slack() < -exact*t.scale()
	}
	if total > 0 {
		c.Gap = gap / total
	}
	if size > 0 {
		c.Cancellation = min(1, math.Sqrt(w.norm2)/size)
	}
	return worse
}

// finite guards against factors and gradients so extreme that the result leaves float64.
func (s *Solver) finite() error {
	c := &s.cert
	out := c.Norm2-c.Norm2 != 0 || c.Level-c.Level != 0
	for i, l := range c.Lambda {
		out = out || l-l != 0 || c.Slacks[i]-c.Slacks[i] != 0
	}
	if c.Status != Stationary && s.set.norm2 > 0 {
		out = out || c.Norm2 < fp.Smallest // it has lost digits
	}
	if out {
		return fmt.Errorf("emgd: the weights or their certificate leave the range of float64: the factors σ, or the gradients, are too large, too small or too far apart in size; rescale them")
	}
	return nil
}
